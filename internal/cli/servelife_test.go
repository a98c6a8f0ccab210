// This file tests writes while a server ends and while a backup is made.

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestRequestsFinish tests a request that is in progress when the server is told to end. The request must be answered,
// and its write must be stored.
func TestRequestsFinish(t *testing.T) {
	s := newStreet(t, "")
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := `{"name":"last","content":"words"}`
	fmt.Fprintf(
		c,
		"POST /api/v1/entries HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		pass("alpha"),
		len(body),
	)
	answers := bufio.NewReader(c)
	if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server said %q, %v", line, err)
	}
	if _, err := answers.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() { ended <- s.stop() }()
	for { // Wait until the server refuses new connections.
		n, err := net.DialTimeout("tcp", s.addr, time.Second)
		if err != nil {
			break
		}
		n.Close()
	}
	fmt.Fprint(c, body)
	res, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusCreated {
		t.Errorf("the answer is %s %s, %v", res.Status, b, err)
	}
	if status := <-ended; status != exitSuccess {
		t.Errorf("the server ended with status %d: %s", status, s.said)
	}
	if out := s.must(t, "--home", s.home("alpha"), "get", "last"); !strings.Contains(out, "words") {
		t.Errorf("get = %q", out)
	}
}

// TestBackupDuringWrites makes a backup of a tenant while others write. The backup must be valid, must contain every
// write that was acknowledged before it began, and must contain no other tenant.
func TestBackupDuringWrites(t *testing.T) {
	t.Parallel()
	s := newStreet(t, "")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var acked atomic.Int64
	some, done := make(chan bool), make(chan error, 1)
	go func() {
		for n := 0; ctx.Err() == nil; n++ {
			body, _ := json.Marshal(map[string]string{
				"name":    fmt.Sprint("e", n),
				"content": strings.Repeat("The crane turns. ", 50),
			})
			if status, answer := s.send(
				t,
				http.DefaultClient,
				"POST",
				"/api/v1/entries",
				pass("alpha"),
				string(body),
			); status != http.StatusCreated {
				done <- fmt.Errorf("POST = %d %s", status, answer)
				return
			}
			acked.Store(int64(n + 1))
			if n == 20 {
				close(some)
			}
		}
		done <- nil
	}()
	select {
	case <-some:
	case err := <-done:
		t.Fatal(err)
	}
	for i := range 3 {
		file, before := filepath.Join(s.dir, fmt.Sprint("copy", i)), acked.Load()
		s.must(t, "--home", s.home("alpha"), "backup", file)
		s.must(t, "--home", file, "check")
		for n := range before {
			if status, _, errs := s.run(t, "--home", file, "get", fmt.Sprint("e", n)); status != exitSuccess {
				t.Fatalf("e%d of %d is not in the copy: %s", n, before, errs)
			}
		}
		if _, out, _ := s.run(t, "--home", file, "list", "--limit", "1000"); strings.Contains(out, hush("beta")) ||
			!strings.Contains(out, hush("alpha")) {
			t.Errorf("the copy holds %s", out)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	status, _, errs := s.run(t, "--home", s.home("own"), "backup", filepath.Join(s.dir, "own"))
	if want := "oxbow --home " + s.home("alpha") + " backup"; status != exitSuccess || !strings.Contains(errs, want) ||
		!strings.Contains(errs, "2 tenants") {
		t.Errorf("a backup of the server's own home = %d, says %s, want %q for 2 tenants", status, errs, want)
	}
	if _, _, errs := s.run(
		t,
		"--home",
		s.home("alpha"),
		"backup",
		filepath.Join(s.dir, "alpha"),
	); strings.Contains(errs, "tenant") {
		t.Errorf("a backup of a tenant's home says %s", errs)
	}
}
