// This file runs servers in separate processes, which tests kill, stop and disconnect.

package jetstream

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// nodeVariable is the environment variable with the options of a server. If it is set, the test program runs as a
// server.
const nodeVariable = "OXBOW_TEST_SERVER"

// atOnce is the number of tests that run at the same time, unless the flag -parallel is given. The tests mostly wait
// for servers to elect a leader, and need little processor time.
const atOnce = "6"

func TestMain(m *testing.M) {
	if o := os.Getenv(nodeVariable); o != "" {
		serveNode(o)
	}
	flag.Parse()
	if !slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.parallel") }) {
		_ = flag.Set("test.parallel", atOnce)
	}
	os.Exit(m.Run())
}

// serveNode runs a server until standard input ends, which also happens when the parent process ends.
func serveNode(options string) {
	var o server.Options
	err := json.Unmarshal([]byte(options), &o)
	if err == nil {
		_, err = server.Start(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println("ready")
	_, _ = os.Stdin.Read(make([]byte, 1))
	os.Exit(0)
}

// node is a server in a separate process.
type node struct {
	t       testing.TB
	options server.Options
	inside  []string // prefix of the command, to run it in the network of the node; may be empty
	cmd     *exec.Cmd
	ready   io.Reader // contains a line as soon as the server accepts connections
}

// nodes are the servers of a cluster.
type nodes struct {
	all  []*node
	urls string
	// disconnects a server from the others, or connects it again (nil if this is not possible)
	cut func(i int, off bool)
}

// startNodes starts three servers, which are killed at the end of the test. If apart is set, each server runs in a
// network of its own, so that ns.cut can disconnect it from the others.
func startNodes(t testing.TB, apart bool) *nodes {
	t.Helper()
	ns := &nodes{}
	clients, routes := freeAddresses(t, 3), freeAddresses(t, 3)
	var inside [][]string
	if apart {
		clients, routes, inside, ns.cut = networks(t)
	}
	ns.urls = strings.Join(clients, ",")
	for i := range clients {
		n := &node{
			t: t,
			options: server.Options{Name: fmt.Sprint("n", i), Dir: t.TempDir(), Secret: secret, Listen: clients[i],
				Cluster: routes[i], Peers: routes},
		}
		if apart {
			n.inside = inside[i]
		}
		n.start()
		ns.all = append(ns.all, n)
	}
	t.Cleanup(func() {
		for _, n := range ns.all {
			n.kill()
		}
	})
	for _, n := range ns.all {
		n.await()
	}
	return ns
}

// start starts the process.
func (n *node) start() {
	o, err := json.Marshal(n.options)
	if err != nil {
		n.t.Fatal(err)
	}
	args := append(append([]string{}, n.inside...), os.Args[0])
	n.cmd = exec.Command(args[0], args[1:]...)
	n.cmd.Env = append(os.Environ(), nodeVariable+"="+string(o))
	n.cmd.Stderr = os.Stderr
	in, err := n.cmd.StdinPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	_ = in // the pipe stays open as long as this process runs
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	if err := n.cmd.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.ready = out
}

// await waits until the server accepts connections.
func (n *node) await() {
	if _, err := n.ready.Read(make([]byte, 16)); err != nil {
		n.t.Fatalf("server %s did not start: %v", n.options.Name, err)
	}
}

// kill ends the process at once, even if the process is stopped by a signal. This simulates the loss of the machine,
// but the operating system keeps all data that the process has written.
func (n *node) kill() {
	_ = n.cmd.Process.Signal(syscall.SIGCONT)
	_ = n.cmd.Process.Kill()
	_ = n.cmd.Wait()
}

func (n *node) pause()  { _ = n.cmd.Process.Signal(syscall.SIGSTOP) }
func (n *node) resume() { _ = n.cmd.Process.Signal(syscall.SIGCONT) }

// The variable networked counts the calls of the function networks. The count is used in names and addresses, because
// each call needs different ones.
var networked atomic.Int64

// networks creates a network for each of three servers. Each network has a link to this process and a link to the other
// servers. The results clients and routes are the servers' addresses on these two links. The result inside contains,
// for each server, the command line that runs a program inside its network. The function cut disconnects server i from
// the other servers if off is true, and connects it again if off is false. If networks cannot be created here, the test
// is skipped.
func networks(t testing.TB) (clients, routes []string, inside [][]string, cut func(i int, off bool)) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("cutting a network takes root: run it as root, or in a container")
	}
	run := func(args ...string) error {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %v: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	made := networked.Add(1)
	id := fmt.Sprintf("%d-%d", os.Getpid()%10000, made)
	net := fmt.Sprintf("10.%d", 213+made%40)
	bridge := "oxb" + id
	t.Cleanup(func() { _ = run("link", "del", bridge) })
	steps := [][]string{{"link", "add", bridge, "type", "bridge"}, {"link", "set", bridge, "up"}}
	for i := range 3 {
		ns := fmt.Sprintf("oxn%s-%d", id, i)
		c := fmt.Sprintf("oxc%s-%d", id, i)
		r := fmt.Sprintf("oxr%s-%d", id, i)
		t.Cleanup(func() { _ = run("netns", "del", ns); _ = run("link", "del", c); _ = run("link", "del", r) })
		steps = append(steps, []string{"netns", "add", ns}, []string{"-n", ns, "link", "set", "lo", "up"},
			[]string{"link", "add", c, "type", "veth", "peer", "name", "c0", "netns", ns},
			[]string{"link", "add", r, "type", "veth", "peer", "name", "r0", "netns", ns},
			[]string{"addr", "add", fmt.Sprintf("%s.%d.1/24", net, i), "dev", c}, []string{"link", "set", c, "up"},
			[]string{"-n", ns, "addr", "add", fmt.Sprintf("%s.%d.2/24", net, i), "dev", "c0"},
			[]string{"-n", ns, "link", "set", "c0", "up"},
			[]string{"link", "set", r, "master", bridge}, []string{"link", "set", r, "up"},
			[]string{"-n", ns, "addr", "add", fmt.Sprintf("%s.9.%d/24", net, i+1), "dev", "r0"},
			[]string{"-n", ns, "link", "set", "r0", "up"})
		clients = append(clients, fmt.Sprintf("%s.%d.2:4222", net, i))
		routes = append(routes, fmt.Sprintf("%s.9.%d:6222", net, i+1))
		inside = append(inside, []string{"ip", "netns", "exec", ns})
	}
	for _, s := range steps {
		if err := run(s...); err != nil {
			t.Skipf("networks cannot be made here: %v; run it where namespaces are allowed", err)
		}
	}
	return clients, routes, inside, func(i int, off bool) {
		state := "up"
		if off {
			state = "down"
		}
		if err := run("link", "set", fmt.Sprintf("oxr%s-%d", id, i), state); err != nil {
			t.Error(err)
		}
	}
}
