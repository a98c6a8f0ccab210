// This file tests oxbow serve, ui, open and demo --ui. It tests their output, their pages, and how they end.

package cli

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"
)

// pages runs a command that serves pages, opens the link that the command prints, and returns the page behind the
// link.
func (w *world) pages(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	env := w.env
	var out, errs bytes.Buffer
	addr := make(chan string, 1)
	env.Args = args
	env.Stdout = &out
	env.Stderr = &errs
	env.OnListening = func(a string) { addr <- a }
	ended := make(chan int, 1)
	go func() { ended <- Run(ctx, env) }()
	select {
	case <-addr:
	case status := <-ended:
		t.Fatalf("oxbow %q ended with status %d: %s", args, status, errs.String())
	}
	link := regexp.MustCompile(`http://[^ \n]*/ui/enter\?\S+`).FindString(out.String() + errs.String())
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	get := func(url string) (string, http.Header) {
		res, err := client.Get(url)
		if err != nil {
			t.Fatalf("oxbow %q: %v; it printed %q", args, err, out.String())
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("oxbow %q: GET %s = %d, %v\n%s", args, url, res.StatusCode, err, body)
		}
		return string(body), res.Header
	}
	_, head := get(link)
	site, _, _ := strings.Cut(link, "/ui/")
	if described, _ := get(site + "/openapi.json"); !strings.Contains(described, `"/api/v1/recall"`) {
		t.Errorf("oxbow %q: /openapi.json is %.200q", args, described)
	}
	body, _ := get(site + strings.TrimPrefix(head.Get("Refresh"), "0; url="))
	client.CloseIdleConnections()
	cancel()
	if status := <-ended; status != exitSuccess {
		t.Errorf("oxbow %q ended with status %d: %s", args, status, errs.String())
	}
	return body
}

// serves matches commands that run until they are stopped. TestPages runs them.
var serves = regexp.MustCompile(`^oxbow (ui|serve|open)\b|demo --ui`)

func TestPages(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "quay wall", "The quay wall is of granite.")
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"ui", "--no-open", "--http", "127.0.0.1:0"}, "quay wall"},
		{[]string{"ui", "--ro", "--project", "harbor"}, "The memory is empty."},
		{[]string{"ui", "quay wall"}, "The quay wall is of granite."},
		{[]string{"open", "quay wall"}, "The quay wall is of granite."}, // This is the old name of the command.
		{[]string{"serve", "--http", ":0"}, "quay wall"},
		{[]string{"demo", "--ui"}, "Quiet hours"},
	} {
		if page := w.pages(t, tt.args...); !strings.Contains(page, tt.want) {
			t.Errorf("oxbow %q: the page has no %q:\n%s", tt.args, tt.want, page)
		}
	}
	for _, name := range []string{"ui", "open"} {
		if status, _, errs := w.run(t, name, "quay wal"); status != exitCommandFailed ||
			!strings.Contains(errs, "quay wall") {
			t.Errorf("oxbow %s of an unknown name = %d, %q, want the nearest name", name, status, errs)
		}
	}
	if status, _, errs := w.run(t, "serve", "--http", "0.0.0.0:1"); status != exitUsageError ||
		!strings.Contains(errs, "tunnel") {
		t.Errorf("oxbow serve to other machines = %d, %q", status, errs)
	}
}
