package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"softswitch/lab"
	netnslab "softswitch/netns-lab"
)

func labShell(name *string) *cobra.Command {
	return &cobra.Command{
		Use:   "shell NODE",
		Short: "Open a shell in a node's namespace",
		Long: `Open a shell in a node's namespace, where ip, ping and tcpdump see the node's
interfaces. The prompt says which node it is; in the shell, SOFTSWITCH_LAB and
SOFTSWITCH_NODE do. It is the shell of $SHELL, with its own start files, or sh. The
exit status is the shell's.`,
		Example:           "  sudo softswitch lab shell core0\n  echo 'ip -s link' | sudo softswitch lab shell core0",
		Args:              arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: labNodes(name, cobra.ShellCompDirectiveNoFileComp),
		RunE: func(cmd *cobra.Command, args []string) error {
			st, err := lab.Load(*name)
			if err != nil {
				return err
			}
			nodes, err := lab.Pick(st, args, "")
			if err != nil {
				return err
			}
			argv, err := shell(st.Name, nodes[0])
			if err != nil {
				return err
			}
			code, err := st.Exec(cmd.Context(), nodes[0].Name, argv, netnslab.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
			if err != nil {
				return err
			}
			if code != 0 {
				return exitCode(code)
			}
			return nil
		},
	}
}

// shell is the command of a shell whose prompt tells the node. Bash reads the user's
// own start file first, which may set a prompt, then a file in the node's run
// directory, which goes with the lab. Other shells take PS1 from the environment.
func shell(lab string, node netnslab.NodeState) (argv []string, err error) {
	path := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
	prompt := "[" + lab + " " + node.Name + "] "
	env := []string{"env", "SOFTSWITCH_LAB=" + lab, "SOFTSWITCH_NODE=" + node.Name, "PS1=" + prompt + "$ "}
	if filepath.Base(path) != "bash" {
		return append(env, path), nil
	}
	start := filepath.Join(node.Dir, "bashrc")
	text := fmt.Sprintf("[ -r ~/.bashrc ] && . ~/.bashrc\nPS1='%s\\w\\$ '\n", prompt)
	if err := os.WriteFile(start, []byte(text), 0o644); err != nil {
		return nil, err
	}
	return append(env, path, "--rcfile", start), nil
}
