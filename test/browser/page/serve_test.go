// This file tests the files that the server provides. The parent directory tests the page in Chromium.

//go:build !js

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestPages(t *testing.T) {
	h := pageHandler([]byte("\x00asm"), []byte("class Go {}"))
	for _, tc := range []struct {
		method, path string
		code         int
		kind, holds  string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8", `src="/wasm_exec.js"`},
		{"GET", "/page.wasm", 200, "application/wasm", "\x00asm"},
		{"GET", "/wasm_exec.js", 200, "text/javascript; charset=utf-8", "class Go"},
		{"GET", "/memory.oxbow", 404, "", ""},
		{"POST", "/", 405, "", ""},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		if w.Code != tc.code || !strings.Contains(w.Body.String(), tc.holds) {
			t.Errorf("%s %s = %d with %.60q, want %d with %q", tc.method, tc.path, w.Code, w.Body, tc.code, tc.holds)
		}
		if got := w.Header().Get("Content-Type"); tc.code == http.StatusOK && got != tc.kind {
			t.Errorf("%s %s is of type %q, want %q", tc.method, tc.path, got, tc.kind)
		}
	}
}
