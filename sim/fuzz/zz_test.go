package fuzz
import ("testing";"fmt";"strings";"softswitch/detect")
func TestZZ(t *testing.T) {
	for _, i := range []int{28,58} {
	c := New(2, i, Usual)
	small := Shrink(c, 600, func(c *Case) bool { o := c.Play("none", detect.NewNone); return strings.HasSuffix(o.Invalid, "headroom_full") })
	fmt.Println(string(small.Text("none","")), small.Play("none", detect.NewNone).Invalid, small.Wires)
	}
}
