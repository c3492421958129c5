package campaign

import (
	_ "embed"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed job.yaml
var jobText string

var job = template.Must(template.New("job.yaml").Parse(jobText))

// Pods are what a cluster needs to know in addition to the campaign.
type Pods struct {
	Image string // which has the build of softswitch that began the campaign
	Claim string // the persistent volume claim that holds the campaign's folder
	Path  string // of the folder in that volume
}

// Kubernetes writes an Indexed Job that plays the shards. Those that are there end at once.
func (c *Campaign) Kubernetes(p Pods, w io.Writer) error {
	dir, err := filepath.Abs(c.dir)
	if err != nil {
		return err
	}
	return job.Execute(w, struct {
		Pods
		Name   string
		Shards int
	}{p, name(filepath.Base(dir)), c.Shards})
}

// name is a name of a Job: DNS labels have lower case, digits and hyphens.
func name(text string) string {
	text = regexp.MustCompile("[^a-z0-9]+").ReplaceAllString(strings.ToLower(text), "-")
	return strings.Trim("campaign-"+text[:min(len(text), 40)], "-")
}
