package lab

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"softswitch/internal/safefile"
	netnslab "softswitch/netns-lab"
)

// Shell is the command for a shell in the node called name, with a prompt that shows
// the node. Bash first reads the user's start file, which may set a prompt, then a file
// in the node's run directory, which is removed with the lab. Other shells take PS1
// from the environment.
func Shell(st *netnslab.State, name string) (argv []string, err error) {
	nodes, err := Pick(st, []string{name}, "")
	if err != nil {
		return nil, err
	}
	node := nodes[0]
	path := cmp.Or(os.Getenv("SHELL"), "/bin/sh")
	prompt := "[" + st.Name + " " + node.Name + "] "
	env := []string{"env", "SOFTSWITCH_LAB=" + st.Name, "SOFTSWITCH_NODE=" + node.Name, "PS1=" + prompt + "$ "}
	if filepath.Base(path) != "bash" {
		return append(env, path), nil
	}
	start := filepath.Join(node.Dir, "bashrc")
	text := fmt.Sprintf("[ -r ~/.bashrc ] && . ~/.bashrc\nPS1='%s\\w\\$ '\n", prompt)
	if err := safefile.WriteFile(start, []byte(text), 0o644); err != nil {
		return nil, err
	}
	return append(env, path, "--rcfile", start), nil
}
