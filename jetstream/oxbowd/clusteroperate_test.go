// Tests of the commands of "oxbowd cluster" with three servers, one of which is lost.

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/jetstream"
	"github.com/oxbow-memory/oxbow/jetstream/server"
)

// threeServers starts three servers with a memory. It returns the addresses of the servers and the last server.
func threeServers(t *testing.T) (urls string, last *server.Server) {
	t.Helper()
	addrs := freeAddresses(t, 6)
	for i := range 3 {
		s, err := server.Start(server.Options{Name: fmt.Sprint("n", i), Dir: t.TempDir(), Secret: secret,
			Listen: addrs[i], Cluster: addrs[3+i], Peers: addrs[3:]})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.Shutdown)
		last = s
	}
	urls = strings.Join(addrs[:3], ",")
	nc, system, err := server.Connect(urls, secret)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	defer system.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c, err := jetstream.Await(ctx, nc, &jetstream.Options{System: system, Partitions: 2}, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := c.Open(ctx, "acme", memoryBrainName)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(ctx, oxbow.Add{Name: "deploy", Content: "We deploy on Tuesdays."}); err != nil {
		t.Fatal(err)
	}
	if rep, err := s.Check(ctx); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %v, %v", rep.Problems, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return urls, last
}

func TestOperate(t *testing.T) {
	t.Parallel()
	dir := homeOf(t)
	urls, last := threeServers(t)
	cluster := func(args ...string) []string {
		return append(append([]string{"cluster"}, args...), "--nats", urls, "--secret-file", "secret")
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := oxbowd(t.Context(), dir, cluster(args...)...).Output()
		if err != nil {
			t.Fatalf("oxbowd cluster %s = %v: %s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	has := func(got string, words ...string) {
		t.Helper()
		for _, w := range words {
			if !strings.Contains(got, w) {
				t.Errorf("%q is not in %s", w, got)
			}
		}
	}
	has(run("status"), "server n0 up 2.", "stream BRAIN_01 led by n", "memories: 1\n")
	var s jetstream.Status
	if err := json.Unmarshal([]byte(run("status", "--json")), &s); err != nil || len(s.Servers) != 3 || s.Brains != 1 {
		t.Errorf("status --json = %+v, %v", s, err)
	}
	has(run("audit"), "memories: 1; streams: 2;")
	has(run("backup", "copies"), "memories: 1; copied: 1; as they were: 0;")
	has(run("backup", "copies"), "memories: 1; copied: 0; as they were: 1; bytes written: 0")
	has(run("restore", "copies", "--dry-run"), "memories: 1; to restore (nothing was written): 0; there already: 1;")
	if files, err := filepath.Glob(filepath.Join(dir, "copies", "tenant-acme", "*.oxbow")); err != nil ||
		len(files) != 1 {
		t.Errorf("the backup has %q, %v", files, err)
	}
	refused(t, dir, 1, []string{"copies/none is no directory"}, cluster("restore", "copies/none")...)
	refused(t, dir, 1, []string{"n2 runs", "Stop it first"}, cluster("replace", "n2")...)
	last.Shutdown()
	refused(t, dir, 1, []string{"server n2 down", "n2 does not answer", "oxbowd cluster replace"}, cluster("status")...)
	refused(t, dir, 1, []string{"n2 is offline"}, cluster("audit")...)
	refused(t, dir, 1, []string{"Start one of another name"}, cluster("replace", "n2", "--dry-run")...)
}
