// Package browsertest runs the library in a real browser. It is a module of its
// own, because what drives the browser is large and nothing else needs it.
//
//	cd browsertest && go test ./...
//
// It needs Chromium (apt install chromium), and skips where there is none,
// unless OXBOW_REQUIRE asks for it: see package need.
package browsertest
