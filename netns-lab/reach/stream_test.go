package reach

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/yamux"

	netnslab "softswitch/netns-lab"
)

// end is one end of a joined pair, as a script.
type end struct {
	read   func([]byte) (int, error)
	write  func([]byte) (int, error)
	closed chan struct{}
	once   sync.Once
}

func (e *end) Read(b []byte) (int, error)  { return e.read(b) }
func (e *end) Write(b []byte) (int, error) { return e.write(b) }
func (e *end) CloseWrite() error           { return nil }

func (e *end) Close() error {
	e.once.Do(func() { close(e.closed) })
	return nil
}

// TestStoppedNodeIsNotGone: nothing that yamux waits for ends a session, however long an agent is
// stopped with its node. Its timers are not those of a bubble, so its settings are looked at.
func TestStoppedNodeIsNotGone(t *testing.T) {
	if c := config(); c.EnableKeepAlive || c.StreamOpenTimeout != 0 {
		t.Errorf("keep-alives: %t; a stream that is not answered ends the session after %v", c.EnableKeepAlive, c.StreamOpenTimeout)
	}
}

// TestNodeThatIsStuckIsNotGone: a client is told when a stream cannot be opened although the agent
// lives, and does not wait for its end.
func TestNodeThatIsStuckIsNotGone(t *testing.T) {
	c := config()
	c.ConnectionWriteTimeout = 10 * time.Millisecond
	near, other := net.Pipe() // that nobody reads
	defer other.Close()
	session, err := yamux.Client(near, c)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	s1 := &far{node: netnslab.NodeState{Name: "s1", Via: []string{"ssh", "there"}}, session: session, ended: make(chan struct{})}
	said := make(chan error, 1)
	go func() {
		_, err := s1.open(toNode)
		said <- err
	}()
	select {
	case err := <-said:
		if want := "node s1: ssh there: connection write timeout"; err == nil || err.Error() != want {
			t.Errorf("open: %v, want %s", err, want)
		}
	case <-time.After(20 * time.Second):
		t.Error("the client still waits")
		close(s1.ended)
		<-said
	}
}

// TestLastWordsInSpiteOfWrites: what a node has said before it hung up comes to a client that still
// speaks.
func TestLastWordsInSpiteOfWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const words = "goodbye"
		last, refused := strings.NewReader(words), make(chan struct{})
		var heard bytes.Buffer
		client := &end{closed: make(chan struct{}), write: heard.Write}
		speaks := true
		client.read = func(b []byte) (int, error) {
			if speaks {
				speaks = false
				return copy(b, "are you there?"), nil
			}
			<-client.closed
			return 0, io.EOF
		}
		node := &end{closed: make(chan struct{})}
		node.write = func([]byte) (int, error) {
			close(refused)
			return 0, syscall.EPIPE
		}
		node.read = func(b []byte) (int, error) {
			<-refused
			time.Sleep(time.Second) // of the bubble's time: whoever gives up because of that does so by then
			select {
			case <-node.closed:
				return 0, net.ErrClosed
			default:
				return last.Read(b)
			}
		}
		came := join(client, node)
		client.Close()
		node.Close()
		time.Sleep(2 * time.Second)
		if got := heard.String(); got != words || !came {
			t.Errorf("the client hears %q, want %q; anything came: %t", got, words, came)
		}
	})
}
