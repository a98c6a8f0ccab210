// Rules of size: lines of a room and of a file, paths and lines of a function,
// and how many exported names may have no user. The limits are only ever lowered.

package oxbow_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"
)

// budget is how many lines of code a room may have, tests not counted.
type budget struct {
	room  string
	lines int
}

// budgets are the budgets of all rooms. The first row that fits a package holds.
var budgets = []budget{
	{".", 3_796},
	{"store", 1_383},
	{"internal/logstore", 6_623},
	{"heads", 66},
	{"overlay", 316},
	{"query", 841},
	{"scope", 1_311},
	{"storetest", 622},
	{"vfs/crashfs", 1_807},
	{"vfs/vfstest", 610},
	{"vfs", 2_389},
	{"crmem", 1_984},
	{"cmd/oxbow/command/tui", 1_683},
	{"mdtree", 5_356},
	{"exchange", 3_830},
	{"internal/rawjson", 179},
	{"label", 1_449},
	{"session", 3_640},
	{"annotate/transcript", 2_800},
	{"session/extract", 541},
	{"session/handoff", 843},
	{"session/inbox", 680},
	{"annotate/*", 6_799},
	{"session/transcript", 1_527},
	{"gate", 350},
	{"inject", 1_028},
	{"hook", 308},
	{"prompt", 310},
	{"profile", 1_993},
	{"agent/*", 1_823},
	{"auth", 775},
	{"auth/oidc", 383},
	{"view", 324},
	{"trust", 504},
	{"team", 1_652},
	{"tenant", 812},
	{"reconcile", 1_905},
	{"lineage", 473},
	{"revert", 737},
	{"tool/maintenance", 2_591},
	{"tool/sharing", 1_146},
	{"tool/clients", 658},
	{"tool/annotations", 1_057},
	{"tool/*", 11_475},
	{"dialect/*", 9_645},
	{"mcpserver", 1_711},
	{"httpapi", 1_766},
	{"web/*", 5_482},
	{"cmd/oxbow/command/*", 13_138},
	{"cmd/*", 50},
	{"deploy/*", 225},
	{"setup", 2_469},
	{"vectors/*", 890},
	{"internal/wal", 2_423},
	{"internal/proof", 163},
	{"backup", 445},
	{"remote", 2_401},
	{"remote/opjson", 129},
	{"internal/index", 4_909},
	{"internal/ranking", 2_116},
	{"internal/analysis/*", 2_528},
	{"internal/git", 1_661},
	{"internal/screen", 216},
	{"internal/secret", 1_060},
	{"internal/personal", 1_042},
	{"internal/clientline", 548},
	{"internal/keydir", 316},
	{"internal/pagefile", 376},
	{"internal/wire", 145},
	{"internal/*", 3_677},
}

// Functions are at most so long. As many as the limits say are longer.
const (
	maxPaths, overPaths = 15, 60
	maxLong, overLong   = 80, 6
)

// maxUnused is how many exported names no other package uses.
const maxUnused = 23

func roomsAreSmall(h *house) (wrong []string) {
	lines := make([]int, len(budgets))
	for _, f := range h.files {
		if f.test || ast.IsGenerated(f.ast) {
			continue
		}
		i := slices.IndexFunc(budgets, func(b budget) bool { return matches(f.dir, []string{b.room}) })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("%s: the package %s has no budget", f.path, f.dir))
			continue
		}
		lines[i] += strings.Count(f.text, "\n")
	}
	for i, b := range budgets {
		if lines[i] > b.lines {
			wrong = append(wrong, fmt.Sprintf("%s: has %d lines, its budget is %d", b.room, lines[i], b.lines))
		}
	}
	return wrong
}

// paths counts the ways through a function as McCabe does: one, and one more for
// each branch.
func paths(fn *ast.FuncDecl) int {
	n := 1
	ast.Inspect(fn, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if x.Op == token.LAND || x.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

func functionsAreShort(h *house) (wrong []string) {
	var branchy, long []string
	for _, f := range h.files {
		if f.test || ast.IsGenerated(f.ast) {
			continue
		}
		for _, d := range f.ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := paths(fn); n > maxPaths {
				branchy = append(branchy, fmt.Sprintf("%s: %s has %d paths", f.path, fn.Name.Name, n))
			}
			if n := h.fset.Position(fn.End()).Line - h.fset.Position(fn.Pos()).Line + 1; n > maxLong {
				long = append(long, fmt.Sprintf("%s: %s has %d lines", f.path, fn.Name.Name, n))
			}
		}
	}
	if len(branchy) > h.limits.branchy {
		wrong = append(wrong, fmt.Sprintf("%d functions have more than %d paths, %d may:\n\t%s", len(branchy), maxPaths, h.limits.branchy, strings.Join(branchy, "\n\t")))
	}
	if len(long) > h.limits.long {
		wrong = append(wrong, fmt.Sprintf("%d functions have more than %d lines, %d may:\n\t%s", len(long), maxLong, h.limits.long, strings.Join(long, "\n\t")))
	}
	return wrong
}

// maxLines is the most lines of one file of Go; best are fewer than 500.
const maxLines = 800

func filesAreShort(h *house) (wrong []string) {
	for _, f := range h.files {
		if n := strings.Count(f.text, "\n"); n > maxLines && !ast.IsGenerated(f.ast) {
			wrong = append(wrong, fmt.Sprintf("%s: has %d lines, the most is %d", f.path, n, maxLines))
		}
	}
	return wrong
}

var sizeRules = []rule{
	{"FilesAreShort", filesAreShort, map[string]string{
		"a.go":   "package oxbow" + strings.Repeat("\n", maxLines),
		"b.go":   "package oxbow" + strings.Repeat("\n", maxLines+1),
		"gen.go": "// Code generated by gen. DO NOT EDIT.\n\npackage oxbow" + strings.Repeat("\n", 2*maxLines),
	}, []string{"b.go: has 801 lines"}},
	{"RoomsAreSmall", roomsAreSmall, map[string]string{
		"prompt/a.go":      "package prompt" + strings.Repeat("\n", 20_000),
		"prompt/a_test.go": "package prompt" + strings.Repeat("\n", 20_000),
		"ghosts/a.go":      "package ghosts",
	}, []string{"ghosts/a.go: the package ghosts has no budget", "prompt: has 20000 lines"}},
	{"FunctionsAreShort", functionsAreShort, map[string]string{
		"a.go": "package oxbow\nfunc a(n int) int {" + strings.Repeat("if n > 0 && n < 9 { n++ };", 7) + "return n }",
		"b.go": "package oxbow\nfunc b(n int) int {" + strings.Repeat("if n > 0 && n < 9 { n++ };", 8) + "return n }",
		"c.go": "package oxbow\nfunc c() {" + strings.Repeat("\n", 80) + "}",
		"d.go": "package oxbow\nfunc d() {" + strings.Repeat("\n", 79) + "}",
	}, []string{"1 functions have more than 15 paths, 0 may:\n\tb.go: b has 17 paths", "1 functions have more than 80 lines, 0 may:\n\tc.go: c has 81 lines"}},
}
