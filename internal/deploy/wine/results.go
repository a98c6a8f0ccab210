// This file counts the passed, failed and skipped tests.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// testCounts counts the tests of one package by result.
type testCounts struct {
	passed, skipped int
	failed          []string
	// the test run of the package failed (even without a failed test, if the package failed to build or the test
	// program ended early)
	hasRunFailed bool
}

// readResults reads the output of "go test -json" and counts the results by package. Subtests are not counted.
func readResults(r io.Reader) (map[string]*testCounts, error) {
	const module = "github.com/oxbow-memory/oxbow"
	results := map[string]*testCounts{}
	events := json.NewDecoder(r)
	for {
		var event struct{ Action, Package, Test string }
		err := events.Decode(&event)
		if errors.Is(err, io.EOF) {
			return results, nil
		}
		if err != nil {
			return results, err
		}
		if event.Package == "" || strings.Contains(event.Test, "/") {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(event.Package, module), "/")
		if name == "" {
			name = "oxbow"
		}
		p := results[name]
		if p == nil {
			p = &testCounts{}
			results[name] = p
		}
		p.addEvent(event.Action, event.Test)
	}
}

func (p *testCounts) addEvent(action, test string) {
	switch {
	case test == "" && action == "fail":
		p.hasRunFailed = true
	case test == "":
	case action == "pass":
		p.passed++
	case action == "skip":
		p.skipped++
	case action == "fail":
		p.failed = append(p.failed, test)
	}
}

// printResults prints the results as a Markdown table. It omits packages without tests.
func printResults(w io.Writer, results map[string]*testCounts) {
	fmt.Fprintln(w, "\n| package | passed | failed | skipped | failed tests |\n|---|--:|--:|--:|---|")
	for _, name := range slices.Sorted(maps.Keys(results)) {
		p := results[name]
		names := strings.Join(p.failed, ", ")
		if p.hasRunFailed && names == "" {
			names = "the package was not built, or its tests ended early"
		}
		if p.passed+p.skipped+len(p.failed) == 0 && !p.hasRunFailed {
			continue
		}
		fmt.Fprintf(w, "| `%s` | %d | %d | %d | %s |\n", name, p.passed, len(p.failed), p.skipped, names)
	}
}
