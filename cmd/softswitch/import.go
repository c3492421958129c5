package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"softswitch/scenario/load"
	"softswitch/scenario/sonic"
)

func importCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "import",
		Short: "Make a scenario file of the configuration of other switches",
		Long:  `Make a scenario file of the configuration of other switches.`,
	}, importSONiC())
}

func importSONiC() *cobra.Command {
	return &cobra.Command{
		Use:   "sonic DIR",
		Short: "Make a scenario file of SONiC switches",
		Long: `Make a scenario file of the SONiC switches of a folder, which has the config_db.json of
each as NAME.json, and print it: their links by DEVICE_NEIGHBOR, speeds by PORT, lossless
classes by PORT_QOS_MAP, buffers by BUFFER_PG. A neighbour without a file is a host.

Two switches have to agree about a link, and all about the classes that they pause. What a
scenario cannot say is told in comments at the head of the file.

Exit status: 0 done; 2 what is wrong is told, all of it.`,
		Example: "  softswitch import sonic configs/ > fabric.yaml && softswitch check fabric.yaml",
		Args:    arguments(cobra.ExactArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(_ *cobra.Command, args []string) error {
			files, err := readSONiC(args[0])
			if err != nil {
				return err
			}
			name, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			text, err := sonic.Scenario(filepath.Base(name), files)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			if _, err := load.Scenario(args[0], text); err != nil {
				return fmt.Errorf("the scenario that comes of %s is not good: %w", args[0], err)
			}
			_, err = os.Stdout.Write(text)
			return err
		},
	}
}

// readSONiC reads the configurations in a folder.
func readSONiC(dir string) (files []sonic.File, err error) {
	paths, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range paths {
		name, ok := strings.CutSuffix(p.Name(), ".json")
		if !ok {
			continue
		}
		data, err := readAtMost(filepath.Join(dir, p.Name()), sonic.MaxFile)
		if err != nil {
			return nil, err
		}
		files = append(files, sonic.File{Switch: name, Data: data})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: no NAME.json in it; want the config_db.json of each switch", dir)
	}
	return files, nil
}

// readAtMost reads a file of at most so many bytes.
func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: more than %d bytes", path, most)
	}
	return data, err
}
