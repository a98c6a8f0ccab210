// This file tests the compression of pages.

package web

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

func TestCompression(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("n", strings.Repeat("A text. ", 1000))
	get := func(path, accepted string) (*http.Response, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept-Encoding", accepted) // with this header, the client does not decompress responses
		resp, err := b.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		var body io.Reader = resp.Body
		if resp.Header.Get("Content-Encoding") == "gzip" {
			body, err = gzip.NewReader(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		return resp, string(text)
	}
	_, plain := get(at("n", ""), "identity")
	for accepted, want := range map[string]string{"br, gzip": "gzip", "gzip;q=0": "", "gzip; q=0.00": "",
		"gzip;q=0.000": "", "gzip;q=0.001": "gzip", "": ""} {
		resp, text := get(at("n", ""), accepted)
		if got := resp.Header.Get("Content-Encoding"); got != want || text != plain {
			t.Errorf("%q: encoding %q, want %q (%d bytes, want %d)", accepted, got, want, len(text), len(plain))
		}
	}
	if resp, _ := get(page.RootPath+"entries/unknown", "gzip"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("the status of a compressed error page is %d", resp.StatusCode)
	}
}
