// A manifest has no races, and the packages that know it take long to build for the race detector.

//go:build !race

package campaign_test

import (
	"bytes"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"softswitch/study/campaign"
)

// TestKubernetes: Kubernetes' own types take the manifest, and no key of it is misspelled.
func TestKubernetes(t *testing.T) {
	_, c := begun(t, "count", 12)
	var b bytes.Buffer
	if err := c.Kubernetes(campaign.Pods{Image: `registry.example/soft"switch:1`, Claim: "claim", Path: "/campaign/it's here"}, &b); err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(b.Bytes(), &job); err != nil {
		t.Fatalf("%v\n%s", err, &b)
	}
	s := job.Spec
	if job.APIVersion != "batch/v1" || job.Kind != "Job" || job.Name != "campaign-campaign" ||
		*s.CompletionMode != batchv1.IndexedCompletion || *s.Completions != 12 || *s.Parallelism != 12 || *s.BackoffLimitPerIndex != 3 {
		t.Errorf("%+v", job)
	}
	// A podFailurePolicy wants pods that are not restarted.
	pod := s.Template.Spec
	container := pod.Containers[0]
	rule := s.PodFailurePolicy.Rules[0]
	if pod.RestartPolicy != corev1.RestartPolicyNever || rule.Action != batchv1.PodFailurePolicyActionFailIndex ||
		*rule.OnExitCodes.ContainerName != container.Name || rule.OnExitCodes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn || rule.OnExitCodes.Values[0] != 2 {
		t.Errorf("%+v, %+v", pod, rule)
	}
	if container.Image != `registry.example/soft"switch:1` || container.Args[0] != "/campaign/it's here" || !strings.Contains(container.Command[2], "$((JOB_COMPLETION_INDEX + 1))") {
		t.Errorf("%+v", container)
	}
	volume := pod.Volumes[0]
	if volume.Name != container.VolumeMounts[0].Name || volume.PersistentVolumeClaim.ClaimName != "claim" {
		t.Errorf("%+v", volume)
	}
	wrong := bytes.Replace(b.Bytes(), []byte("completionMode"), []byte("completionsMode"), 1)
	if err := yaml.UnmarshalStrict(wrong, &batchv1.Job{}); err == nil {
		t.Error("a misspelled key is not found")
	}
}
