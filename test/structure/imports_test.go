// Rules of imports: which package may import which, and what the library may need.

package oxbow_test

import (
	"fmt"
	"slices"
	"strings"
)

// floors says what each package of the module may import of the module, in
// code that is not a test. The first row that fits a package holds. A pattern
// with /* takes in the package and all below it; "." is the root. A package without a row has no place in the house yet: give it
// one.
var floors = []struct {
	pkg  string
	uses []string
}{
	{"vfs", nil},
	{"vfs/crashfs", []string{"vfs"}},
	{"vfs/vfstest", []string{"vfs"}},
	{"store", []string{"internal/*"}},
	{"internal/logstore", []string{"store", "vfs", "internal/*"}},
	{"internal/*", []string{"vfs", "internal/*"}},
	{".", []string{"store", "vfs", "internal/*"}},
	{"storetest", []string{"."}},
	{"query", []string{".", "internal/*"}},
	{"heads", []string{"."}},
	{"overlay", []string{".", "heads", "internal/*"}},
	{"scope", []string{".", "heads", "internal/*"}},

	{"mdtree", []string{".", "vfs", "internal/diff", "internal/journal", "internal/text", "internal/watch"}},
	{"crmem", []string{".", "vfs", "internal/*"}},
	{"exchange", []string{".", "vfs", "internal/frontmatter", "internal/progress", "internal/rawjson", "internal/text", "crmem"}},
	{"prompt", []string{".", "vfs", "internal/*"}},
	{"label", []string{".", "vfs", "internal/*", "lineage"}},
	{"profile", []string{".", "vfs", "internal/*", "heads", "scope", "query", "prompt"}},
	{"auth", []string{".", "vfs", "internal/*", "scope", "profile"}},
	{"auth/oidc", []string{"auth"}},
	{"trust", []string{".", "vfs", "internal/*"}},
	{"team", []string{".", "vfs", "internal/*", "mdtree", "trust"}},
	{"reconcile", []string{".", "vfs", "team"}},
	{"lineage", []string{".", "internal/*"}},
	{"revert", []string{".", "internal/*", "lineage"}},
	{"agentedit", []string{".", "profile", "session"}},
	{"agent/skill", []string{".", "vfs", "internal/*"}},
	{"agent/handoff", []string{".", "vfs", "internal/*", "prompt", "profile", "agent/skill"}},
	{"session", []string{".", "vfs", "internal/*", "label"}},
	{"session/extract", []string{"internal/*"}},
	{"session/handoff", []string{"internal/*", "session", "session/extract"}},
	{"session/reading", []string{"internal/*"}},
	{"session/inbox", []string{".", "internal/*", "session", "session/extract"}},
	{"session/transcript", []string{".", "vfs", "internal/*", "session"}},
	{"annotate", []string{".", "vfs", "internal/*"}},
	{"annotate/*", []string{".", "vfs", "internal/*", "annotate"}},
	{"agent/subagent", []string{".", "vfs", "internal/*", "scope", "prompt", "profile", "agent/skill"}},
	{"setup", []string{"vfs", "internal/*"}},
	{"backup", []string{".", "vfs"}},
	{"remote/opjson", []string{"."}},
	{"remote", []string{".", "internal/*", "remote/opjson"}},
	{"vectors", []string{".", "vfs"}},
	{"vectors/vectorstest", nil},
	{"gate", []string{"internal/*"}},
	{"inject", []string{".", "vfs", "internal/*", "query", "gate", "session", "session/extract"}},
	{"tool", []string{".", "vfs", "backup", "reconcile", "remote", "setup", "vectors", "gate", "inject", "internal/*", "label", "scope", "query", "mdtree", "exchange", "prompt", "profile", "agent/*", "trust", "team", "lineage", "revert", "agentedit", "annotate", "annotate/*", "session", "session/*"}},
	{"tool/maintenance", []string{".", "vfs", "backup", "internal/*", "annotate", "session", "session/inbox", "setup", "trust", "tool"}},
	{"tool/sharing", []string{".", "vfs", "annotate", "mdtree", "reconcile", "remote", "team", "trust", "internal/*", "tool"}},
	{"tool/clients", []string{".", "vfs", "exchange", "session", "setup", "tool"}},
	{"tool/annotations", []string{".", "vfs", "annotate", "annotate/*", "inject", "internal/*", "session", "session/*", "tool"}},

	{"dialect", []string{".", "vfs", "internal/*", "mdtree", "prompt", "tool"}},
	{"dialect/dialecttest", []string{".", "vfs", "tool", "dialect"}},
	{"dialect/*", []string{".", "vfs", "internal/*", "scope", "query", "crmem", "mdtree", "prompt", "profile", "agent/*", "tool", "dialect", "dialect/internal/*"}},
	{"view", []string{".", "internal/*", "scope", "profile", "agent/*", "auth", "session", "tool"}},
	{"tenant", []string{".", "internal/*", "auth", "remote"}},
	{"mcpserver", []string{".", "vfs", "internal/*", "scope", "prompt", "profile", "agent/*", "auth", "session", "tool", "view", "dialect"}},
	{"httpapi", []string{".", "scope", "vfs", "internal/*", "profile", "auth", "remote", "session", "tool", "tool/annotations", "tool/maintenance", "view"}},
	{"web/tag", nil},
	{"web/page", []string{".", "internal/*", "tool", "web/tag"}},
	{"web", []string{".", "vfs", "internal/*", "auth", "session", "tool", "tool/annotations", "tool/maintenance", "view", "web/page", "web/tag"}},
	{"hook", []string{"internal/*", "session", "session/transcript"}},
	{"cmd/*", []string{"*"}},
	{"deploy/*", nil},
}

// testSupport are the packages made for tests: they may import testing, and
// only tests may import them.
var testSupport = []string{"storetest", "dialect/dialecttest", "vfs/crashfs", "vfs/vfstest", "vectors/vectorstest", "internal/testenv"}

// importsPointDown holds the floors.
func importsPointDown(h *house) (wrong []string) {
	for _, f := range h.files {
		if f.test {
			continue
		}
		i := -1
		for j, row := range floors {
			if matches(f.dir, []string{row.pkg}) {
				i = j
				break
			}
		}
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: package %s has no row in floors", f.path, f.dir))
			continue
		}
		for _, imp := range f.imports() {
			if dir, ok := inner(imp); ok && !matches(dir, floors[i].uses) {
				wrong = append(wrong, fmt.Sprintf("%s: %s may not import %s, only %q", f.path, f.dir, dir, floors[i].uses))
			}
		}
	}
	return wrong
}

// libraryIsLight holds the budget of the root package: of other modules it
// imports nothing, and neither it nor what it imports of this module reaches
// the network or starts programs.
func libraryIsLight(h *house) (wrong []string) {
	seen, todo := map[string]bool{".": true}, []string{"."}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		for _, f := range h.files {
			if f.dir != dir || f.test {
				continue
			}
			for _, imp := range f.imports() {
				first, _, _ := strings.Cut(imp, "/")
				switch in, ok := inner(imp); {
				case ok && !seen[in]:
					seen[in] = true
					todo = append(todo, in)
				case ok:
				case slices.Contains([]string{"net", "net/http", "os/exec"}, imp):
					wrong = append(wrong, fmt.Sprintf("%s: the library imports %s", f.path, imp))
				case dir == "." && strings.Contains(first, "."):
					wrong = append(wrong, fmt.Sprintf("%s: the root package imports %s, of another module", f.path, imp))
				}
			}
		}
	}
	return wrong
}

// productionIsUntested finds code that imports what is made for tests.
func productionIsUntested(h *house) (wrong []string) {
	for _, f := range h.files {
		if f.test || matches(f.dir, testSupport) {
			continue
		}
		for _, imp := range f.imports() {
			dir, ok := inner(imp)
			if imp == "testing" || strings.HasPrefix(imp, "testing/") || (ok && matches(dir, testSupport)) {
				wrong = append(wrong, fmt.Sprintf("%s: production code imports %s", f.path, imp))
			}
		}
	}
	return wrong
}

var importRules = []rule{
	{"ImportsPointDown", importsPointDown, map[string]string{
		"a.go":                `package oxbow; import _ "` + module + `/mdtree"`,
		"store_test.go":       `package oxbow_test; import _ "` + module + `/tool"`,
		"vfs/a.go":            `package vfs; import _ "` + module + `"`,
		"internal/wal/a.go":   `package wal; import (_ "` + module + `/internal/text"; _ "` + module + `")`,
		"cmd/crash/a.go":      `package crash; import (_ "` + module + `/vfs/crashfs"; _ "` + module + `/mcpserver")`,
		"internal/x/y/a.go":   `package y; import _ "` + module + `/tool"`,
		"exchange/a.go":       `package exchange; import (_ "` + module + `/internal/text"; _ "` + module + `/internal/wal")`,
		"mcpserver/a_wasm.go": `package mcpserver; import _ "` + module + `/exchange"`,
		"tool/a.go":           `package tool; import _ "` + module + `/cmd/oxbow"`,
		"cmd/oxbow/a.go":      `package main; import (_ "` + module + `/tool"; _ "` + module + `")`,
		"helpers/a.go":        `package helpers`,
	}, []string{
		"a.go: . may not import mdtree", "exchange/a.go: exchange may not import internal/wal", "helpers/a.go: package helpers has no row",
		"internal/wal/a.go: internal/wal may not import .,", "internal/x/y/a.go: internal/x/y may not import tool",
		"mcpserver/a_wasm.go: mcpserver may not import exchange", "tool/a.go: tool may not import cmd/oxbow", "vfs/a.go: vfs may not import .,",
	}},
	{"LibraryIsLight", libraryIsLight, map[string]string{
		"a.go":               `package oxbow; import (_ "io/fs"; _ "` + module + `/vfs"; _ "golang.org/x/sys/unix"; _ "net/http")`,
		"a_test.go":          `package oxbow; import (_ "net"; _ "example.com/x")`,
		"vfs/a.go":           `package vfs; import (_ "golang.org/x/sys/unix"; _ "` + module + `/internal/text")`,
		"internal/text/a.go": `package text; import (_ "net"; _ "net/url")`,
		"internal/git/a.go":  `package git; import _ "os/exec"`, // nothing that the library imports
	}, []string{"a.go: the root package imports golang.org/x/sys/unix", "a.go: the library imports net/http", "internal/text/a.go: the library imports net"}},
	{"ProductionIsUntested", productionIsUntested, map[string]string{
		"a.go":                     `package oxbow; import _ "testing"`,
		"a_test.go":                `package oxbow; import _ "testing"`,
		"b.go":                     `package oxbow; import _ "testing/fstest"`,
		"storetest/a.go":           `package storetest; import _ "testing"`,
		"internal/testenv/need.go": `package testenv; import _ "testing"`,
		"internal/wal/a.go":        `package wal; import _ "` + module + `/internal/testenv"`,
		"tool/a.go":                `package tool; import _ "` + module + `/vfs/crashfs"`,
	}, []string{"a.go: production code imports testing", "b.go: production code imports testing/fstest", "internal/wal/a.go: production code imports " + module + "/internal/testenv",
		"tool/a.go: production code imports " + module + "/vfs/crashfs"}},
}
