// This file limits imports: it specifies which packages each package may import, and which packages the library may
// depend on.

package structure

import (
	"fmt"
	"slices"
	"strings"
)

// floors specifies, for each package of the module, the packages of the module that its non-test code may import. The
// lowest packages are first. The first row whose pattern matches a package applies to the package. A pattern that ends
// with /* matches the package and all packages below it, and "." matches the root package. There must be a row for
// each package.
var floors = []struct {
	pkg  string
	uses []string
}{
	// These are the lowest packages: files, and packages that do not depend on entries.
	{"vfs", nil},
	{"vfs/vfstest", []string{"vfs"}},
	{"internal/base/*", []string{"vfs", "internal/base/*"}},
	{"internal/screening/*", []string{"vfs", "internal/base/*", "internal/screening/*"}},
	{"internal/search/*", []string{"vfs", "internal/base/*", "internal/search/*"}},

	// These packages are the library: the types of a memory, the store, and the index of the store.
	{"store", []string{"internal/base/*", "internal/screening/*"}},
	{"store/*", []string{"."}},
	{"internal/log/logstore", []string{"store", "vfs", "internal/base/*", "internal/screening/*", "internal/log/*"}},
	{"internal/log/*", []string{"vfs", "internal/base/*", "internal/log/*"}},
	{".", []string{"store", "vfs", "internal/base/*", "internal/search/*", "internal/log/*"}},
	{"query", []string{".", "internal/base/*"}},
	{"scope", []string{".", "store/heads", "internal/base/*", "internal/screening/*"}},

	// These packages use the library and do not import verbs.
	{"internal/threeway", []string{".", "internal/base/*"}},
	{"internal/tree/*", []string{".", "vfs", "internal/base/*", "internal/threeway", "internal/tree/*"}},
	{"internal/code/git", []string{"vfs", "internal/base/*"}},
	{"internal/code/project", []string{".", "internal/search/analysis"}},
	{"internal/code/*", []string{".", "vfs", "internal/base/*", "internal/code/*"}},
	{"internal/label", []string{".", "store/heads", "internal/base/*", "internal/search/*"}},
	{"internal/duplicate", []string{".", "internal/search/*", "internal/history/lineage"}},
	{
		"internal/history/*",
		[]string{".", "vfs", "internal/base/*", "internal/search/*", "internal/screening/*", "internal/log/*",
			"internal/threeway", "internal/history/*"},
	},
	{"internal/vectors", []string{".", "vfs"}},
	{"internal/agent/prompt", []string{"internal/base/*"}},
	{"internal/agent/clientfile", []string{"vfs", "internal/base/*"}},
	{"internal/agent/gate", []string{"internal/base/*", "internal/search/*"}},
	{
		"profile",
		[]string{".", "vfs", "store/heads", "scope", "query", "internal/base/*", "internal/screening/*",
			"internal/agent/prompt"},
	},
	{
		"internal/agent/*",
		[]string{".", "vfs", "scope", "query", "profile", "internal/base/*", "internal/screening/*",
			"internal/search/*", "internal/code/*", "internal/agent/*", "internal/label", "internal/history/*"},
	},
	{"internal/setup", []string{"vfs", "internal/base/*", "internal/agent/clientfile"}},
	{"internal/share/auth/oidc", []string{"internal/share/auth"}},
	{
		"internal/share/*",
		[]string{".", "vfs", "store/heads", "scope", "profile", "internal/base/*", "internal/screening/*",
			"internal/log/*", "internal/code/git", "internal/threeway", "internal/tree/mdtree", "internal/share/*"},
	},

	// These packages contain verbs, which are operations that all interfaces offer, such as remember. The layouts also
	// provide verbs.
	{"internal/verb", belowVerbs},
	{"internal/verb/*", append(belowVerbs, "internal/verb", "internal/verb/*")},
	{
		"layout",
		[]string{".", "vfs", "internal/base/*", "internal/screening/*", "internal/agent/prompt", "internal/verb"},
	},
	{"layout/internal/*", []string{".", "vfs", "layout/*", "internal/base/*", "internal/tree/mdtree", "internal/verb",
		"internal/agent/prompt"}},
	{
		"layout/*",
		[]string{".", "vfs", "scope", "query", "profile", "internal/base/*", "internal/screening/*",
			"internal/search/*", "internal/tree/*", "internal/agent/*", "internal/verb", "layout",
			"layout/internal/*"},
	},

	{"internal/layouts", []string{"layout", "layout/*"}},

	// These packages are interfaces. They decode a call, run a verb, and encode the answer.
	{"internal/hook", []string{"internal/base/*", "internal/agent/*"}},
	{
		"internal/mcpserver",
		[]string{".", "vfs", "scope", "profile", "internal/base/*", "internal/agent/*", "internal/share/auth",
			"internal/verb/*", "layout"},
	},
	{
		"internal/httpapi",
		[]string{".", "vfs", "scope", "profile", "internal/base/*", "internal/agent/session", "internal/share/auth",
			"internal/share/remote", "internal/verb/*"},
	},
	{"internal/web/tag", nil},
	{"internal/web/page", []string{".", "internal/base/*", "internal/verb", "internal/web/tag"}},
	{
		"internal/web",
		[]string{".", "vfs", "internal/base/*", "internal/agent/session", "internal/share/auth", "internal/verb/*",
			"internal/web/*"},
	},
	{"internal/cli/*", []string{"*"}},
	{"cmd/*", []string{"internal/cli"}},
	{"internal/deploy/plugins", []string{"internal/hook", "internal/setup"}},
	{"internal/deploy/*", nil},

	// These packages are only for tests.
	{"test/crashfs", []string{"vfs"}},
	{"test/*", nil},
}

// belowVerbs contains the packages that a verb may import.
var belowVerbs = []string{".", "vfs", "store/heads", "scope", "query", "profile", "internal/base/*",
	"internal/screening/*", "internal/search/*", "internal/log/*",
	"internal/threeway", "internal/tree/*", "internal/code/*", "internal/label", "internal/duplicate",
	"internal/history/*", "internal/vectors",
	"internal/agent/*", "internal/setup", "internal/share/*"}

// testSupport contains the packages for tests. They may import package testing, and only tests may import them.
var testSupport = []string{"store/storetest", "layout/internal/layouttest", "vfs/vfstest", "test/crashfs",
	"test/testenv", "test/vectorstest"}

// importsPointDown checks that the non-test files of each package import only those packages of the module that the
// table floors permits. It returns a message for each import that is not permitted, and for each file whose package is
// not in the table.
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
				wrong = append(
					wrong,
					fmt.Sprintf("%s: %s may not import %s, only %q", f.path, f.dir, dir, floors[i].uses),
				)
			}
		}
	}
	return wrong
}

// libraryIsLight checks the dependencies of the root package. It must not import other modules. Neither the root
// package nor the packages of this module that it imports may use the network or start programs.
func libraryIsLight(h *house) (wrong []string) {
	reached := h.importsOf(".")
	for _, f := range h.files {
		if _, ok := reached[f.dir]; f.test || !ok {
			continue
		}
		for _, imp := range f.imports() {
			first, _, _ := strings.Cut(imp, "/")
			_, isInner := inner(imp)
			switch {
			case isInner:
			case slices.Contains([]string{"net", "net/http", "os/exec"}, imp):
				wrong = append(wrong, fmt.Sprintf("%s: the library imports %s", f.path, imp))
			case f.dir == "." && strings.Contains(first, "."):
				wrong = append(
					wrong,
					fmt.Sprintf("%s: the root package imports %s, of another module", f.path, imp),
				)
			}
		}
	}
	return wrong
}

// importsOf returns the directories of the packages of this module that the non-test code of a package imports,
// directly or indirectly. For each directory, it returns the path of a file that imports the package. The result also
// contains the package itself, with an empty path.
func (h *house) importsOf(pkg string) map[string]string {
	reached, todo := map[string]string{pkg: ""}, []string{pkg}
	for len(todo) > 0 {
		dir := todo[0]
		todo = todo[1:]
		for _, f := range h.files {
			if f.dir != dir || f.test {
				continue
			}
			for _, imp := range f.imports() {
				in, isInner := inner(imp)
				if _, ok := reached[in]; isInner && !ok {
					reached[in] = f.path
					todo = append(todo, in)
				}
			}
		}
	}
	return reached
}

// notForAgents contains the packages that a server of the Model Context Protocol does not need. These are the packages
// of the other interfaces, and the packages that change the files of clients or exchange memories with servers.
var notForAgents = []string{"internal/cli", "internal/cli/*", "internal/web", "internal/web/*", "internal/httpapi",
	"internal/hook", "internal/setup", "internal/share/reconcile", "internal/share/remote", "internal/share/team",
	"internal/share/tenant", "internal/verb/sharing", "internal/verb/clients"}

// agentsServerIsLight finds imports of packages that internal/mcpserver must not import, directly or indirectly.
func agentsServerIsLight(h *house) (wrong []string) {
	for dir, importer := range h.importsOf("internal/mcpserver") {
		if matches(dir, notForAgents) {
			wrong = append(wrong, importer+": internal/mcpserver must not need "+dir)
		}
	}
	return wrong
}

// productionIsUntested finds non-test code that imports packages for tests.
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
		"a.go":          `package oxbow; import _ "` + module + `/internal/tree/mdtree"`,
		"store_test.go": `package oxbow_test; import _ "` + module + `/internal/verb"`,
		"vfs/a.go":      `package vfs; import _ "` + module + `"`,
		"internal/log/wal/a.go": `package wal; import (_ "` + module + `/internal/base/text"; _ "` + module +
			`")`,
		"internal/cli/a.go": `package cli; import (_ "` + module + `/test/crashfs"; _ "` + module +
			`/internal/mcpserver")`,
		"internal/base/y/a.go": `package y; import _ "` + module + `/internal/verb"`,
		"internal/tree/exchange/a.go": `package exchange; import (_ "` + module + `/internal/base/text"; _ "` +
			module + `/internal/log/wal")`,
		"internal/mcpserver/a_wasm.go": `package mcpserver; import _ "` + module + `/internal/tree/exchange"`,
		"internal/verb/a.go":           `package verb; import _ "` + module + `/internal/verb/rights"`,
		"internal/verb/rights/a.go":    `package rights; import (_ "` + module + `/internal/verb"; _ "` + module + `")`,
		"helpers/a.go":                 `package helpers`,
	}, []string{
		"a.go: . may not import internal/tree/mdtree",
		"internal/tree/exchange/a.go: internal/tree/exchange may not import internal/log/wal",
		"helpers/a.go: package helpers has no row",
		"internal/log/wal/a.go: internal/log/wal may not import .,",
		"internal/base/y/a.go: internal/base/y may not import internal/verb",
		"internal/mcpserver/a_wasm.go: internal/mcpserver may not import internal/tree/exchange",
		"internal/verb/a.go: internal/verb may not import internal/verb/rights", "vfs/a.go: vfs may not import .,",
	}}, {"LibraryIsLight", libraryIsLight, map[string]string{
		"a.go": `package oxbow; import (_ "io/fs"; _ "` + module +
			`/vfs"; _ "golang.org/x/sys/unix"; _ "net/http")`,
		"a_test.go": `package oxbow; import (_ "net"; _ "example.com/x")`,
		"vfs/a.go": `package vfs; import (_ "golang.org/x/sys/unix"; _ "` + module +
			`/internal/base/text")`,
		"internal/base/text/a.go": `package text; import (_ "net"; _ "net/url")`,
		// Package oxbow does not import this package, so it may import os/exec.
		"internal/code/git/a.go": `package git; import _ "os/exec"`,
	}, []string{
		"a.go: the root package imports golang.org/x/sys/unix",
		"a.go: the library imports net/http",
		"internal/base/text/a.go: the library imports net",
	}},
	{"AgentsServerIsLight", agentsServerIsLight, map[string]string{
		"internal/mcpserver/a.go": `package mcpserver; import _ "` + module + `/internal/verb"`,
		"internal/verb/a.go": `package verb; import (_ "` + module + `/internal/share/remote"; _ "` + module +
			`/internal/share/auth")`,
		"internal/verb/a_test.go":      `package verb; import _ "` + module + `/internal/setup"`,
		"internal/share/remote/a.go":   `package remote; import _ "` + module + `/internal/web/page"`,
		"internal/share/tenant/a.go":   `package tenant`,
		"internal/mcpserver/a_test.go": `package mcpserver; import _ "` + module + `/internal/cli"`,
	}, []string{
		"internal/verb/a.go: internal/mcpserver must not need internal/share/remote",
		"internal/share/remote/a.go: internal/mcpserver must not need internal/web/page",
	}},
	{"ScreeningIsOnePlace", screeningIsOnePlace, map[string]string{
		"store/a.go":                     `package store; import _ "` + module + `/internal/screening/instruction"`,
		"scope/a.go":                     `package scope; import _ "` + module + `/internal/screening/personal"`,
		"internal/screening/screen/a.go": `package screen; import _ "` + module + `/internal/screening/secret"`,
		"internal/verb/a.go": `package verb; import (_ "` + module + `/internal/screening/secret"; _ "` + module +
			`/internal/screening/screen")`,
		"internal/verb/a_test.go": `package verb; import _ "` + module + `/internal/screening/secret"`,
	}, []string{
		"internal/verb/a.go: import internal/screening/screen instead of internal/screening/secret",
		"store/a.go: import internal/screening/screen instead of internal/screening/instruction",
	}},
	{"ProductionIsUntested", productionIsUntested, map[string]string{
		"a.go":                  `package oxbow; import _ "testing"`,
		"a_test.go":             `package oxbow; import _ "testing"`,
		"b.go":                  `package oxbow; import _ "testing/fstest"`,
		"store/storetest/a.go":  `package storetest; import _ "testing"`,
		"test/testenv/need.go":  `package testenv; import _ "testing"`,
		"internal/log/wal/a.go": `package wal; import _ "` + module + `/test/testenv"`,
		"internal/verb/a.go":    `package verb; import _ "` + module + `/test/crashfs"`,
	}, []string{
		"a.go: production code imports testing",
		"b.go: production code imports testing/fstest",
		"internal/log/wal/a.go: production code imports " + module + "/test/testenv",
		"internal/verb/a.go: production code imports " + module + "/test/crashfs",
	}},
}

// finders contains the packages that find something in a text, with the packages that may import them. All other
// packages must call package screen instead, so that a new kind of finding needs a change in only one place.
var finders = map[string][]string{
	"internal/screening/secret":      {"internal/screening/*"},
	"internal/screening/instruction": {"internal/screening/*"},
	// Package scope finds personal data only to hide it in the texts that it shows.
	"internal/screening/personal": {"internal/screening/*", "scope"},
}

// screeningIsOnePlace checks that only the permitted packages import the packages in finders.
func screeningIsOnePlace(h *house) (wrong []string) {
	for _, f := range h.files {
		if f.test {
			continue
		}
		for _, imp := range f.imports() {
			dir, _ := inner(imp)
			if users, ok := finders[dir]; ok && !matches(f.dir, users) {
				wrong = append(wrong, fmt.Sprintf("%s: import internal/screening/screen instead of %s", f.path, dir))
			}
		}
	}
	return wrong
}
