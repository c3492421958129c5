package cli

import (
	"github.com/spf13/cobra"

	"softswitch/internal/schema"
	"softswitch/internal/strictyaml"
	"softswitch/scenario"
	"softswitch/scenario/load"
)

// SetFlag adds the flag --set to a command that reads a scenario file.
func SetFlag(c *cobra.Command, all *[]strictyaml.Setting) {
	c.Flags().Var((*settings)(all), "set", "override a value of the file, such as buffer.xoff=40960 or flows[0].rate=line; repeatable")
	c.RegisterFlagCompletionFunc("set", CompleteSetting)
}

// settings is the value of --set, which may be repeated.
type settings []strictyaml.Setting

func (s *settings) String() string { return "" }
func (s *settings) Type() string   { return "key=value" }

func (s *settings) Set(text string) error {
	one, err := strictyaml.ParseSetting(text)
	if err == nil {
		*s = append(*s, one)
	}
	return err
}

// CompleteSetting completes keys of a scenario file and their values.
func CompleteSetting(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	all := schema.Read(scenario.Format(load.Known()), nil).Complete(begun)
	return all, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}
