package archtest

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// users is the program that users install.
const users = "cmd/softswitch"

// beside reports whether a package is below cmd and no part of what users install.
func beside(dir string) bool {
	return room(dir) == "cmd" && dir != users && !strings.HasPrefix(dir, users+"/")
}

// strangers must not know each other, whatever their rooms.
var strangers = [][2]string{{"pfcframe", "itsyhdr"}, {"link", "buffer"}, {"oracle", "dataplane"}, {"node/observe", "scenario"}, {"node/metrics", "scenario"}}

// bannedImports of pure packages, with everything below them.
var bannedImports = []string{
	"context", "crypto/rand", "hash/maphash", "io", "log", "math/rand", "net", "os", "plugin", "runtime", "sync", "syscall", "unsafe", "golang.org/x/sys",
}

// harmlessImports lie below a banned one and do none of what it is banned for.
var harmlessImports = []string{"io", "io/fs", "net/netip"}

// allowedImports are exceptions with their reasons.
var allowedImports = map[string]string{
	"buffer unsafe":           "size of a structure",
	"detect/itsy unsafe":      "size of a structure",
	"detect/itsypaper unsafe": "size of a structure",
	"detect/shpiner unsafe":   "size of a structure",
	"detect/watchdog unsafe":  "size of a structure",

	"link/impair math/rand/v2": "streams made from the seed",
	"study/cause context":      "a study ends when its caller says",
	"study/check context":      "a study ends when its caller says",
	"study/fuzz context":       "a study ends when its caller says",
	"study/check sync/atomic":  "the number of the next case, for several workers",
	"study/fuzz math/rand/v2":  "cases made from the seed",
}

// fileFunctions of package os make or open files. Package safefile has the same ones, which do
// not do it where another user of the machine says.
var fileFunctions = []string{"Create", "Mkdir", "MkdirAll", "OpenFile", "WriteFile"}

// allowedFiles are exceptions with their reasons.
var allowedFiles = map[string]string{
	"lab os.OpenFile":                "a device",
	"netns-lab os.OpenFile":          "the name of a namespace, which must not be there, in a folder of root",
	"netns-lab os.WriteFile":         "settings of the kernel",
	"internal/netspace os.WriteFile": "settings of the kernel",
	"cmd/figures os.WriteFile":       "settings of the kernel",
}

// door is the file through which a lab that is up is changed, by whomever: what pages and commands
// order then cannot differ.
const door = "lab/orders.go"

// asker is the package that names requests to nodes, with the types of their arguments and answers.
const asker = "node/client"

// Methods of netnslab.State and functions of asker that are used in the file of the door alone.
var (
	doorMethods  = []string{"Continue", "Fail", "Heal", "Kill", "Restart", "Stop"}
	doorRequests = []string{"Act", "Forge", "Impair", "Lose", "Restart", "Start", "Stop", "Tape"}
)

// bannedNames of pure packages: what reads a clock, starts a timer or a goroutine, or
// goes through a map in an order of its own.
var bannedNames = map[string][]string{
	"time":    {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick"},
	"iter":    {"Pull", "Pull2"},
	"maps":    {"All", "Keys", "Values", "DeleteFunc", "EqualFunc"},
	"reflect": {"MapRange", "MapKeys", "Seq", "Seq2"},
}

// commentBegins is how the comment of an exported identifier begins: with its name, before which an
// article may stand, and a verb in the present tense. What ends in s is taken for one.
var commentBegins = regexp.MustCompile(`^(?:(?:A|An|The)\s+)?(\w+)\s+(?:\w+s|are|can|do|have|may|must)\b`)

// forTests reports whether only tests, and packages that are for tests themselves, may
// import a package.
func forTests(dir string) bool {
	return strings.HasPrefix(dir, "internal/test") || strings.HasSuffix(path.Base(dir), "test")
}

// importBanned reports whether a pure package must not import name.
func importBanned(dir, name string) bool {
	if slices.Contains(harmlessImports, name) || allowedImports[dir+" "+name] != "" {
		return false
	}
	return slices.ContainsFunc(bannedImports, func(b string) bool { return name == b || strings.HasPrefix(name, b+"/") })
}
