// This file opens the pages of a memory in the same way as a browser.

package flows

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

// openPages runs "oxbow ui". It returns a function that returns the main part of a page, and a function that ends the
// server. The path of a page is relative to the first page.
func (w *world) openPages(t *testing.T, args ...string) (page func(path string) string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	env := w.env
	var out, errs bytes.Buffer
	addr, ended := make(chan string, 1), make(chan int, 1)
	env.Args = append([]string{"ui", "--no-open", "--http", "127.0.0.1:0"}, args...)
	env.Stdout = &out
	env.Stderr = &errs
	env.OnListening = func(a string) { addr <- a }
	go func() { ended <- cli.Run(ctx, env) }()
	select {
	case <-addr:
	case status := <-ended:
		cancel()
		t.Fatalf("oxbow ui ended with status %d: %s", status, &errs)
	}
	link := regexp.MustCompile(`http://[^ \n]*/ui/enter\?\S+`).FindString(out.String() + errs.String())
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	get := func(url string) string {
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	get(link)
	site, _, _ := strings.Cut(link, "/ui/")
	page = func(path string) string {
		_, main, _ := strings.Cut(get(site+"/ui/"+path), "<main")
		main, _, _ = strings.Cut(main, "</main>")
		return main
	}
	stop = func() {
		client.CloseIdleConnections()
		cancel()
		if status := <-ended; status != 0 {
			t.Errorf("oxbow ui ended with status %d: %s", status, &errs)
		}
	}
	return page, stop
}
