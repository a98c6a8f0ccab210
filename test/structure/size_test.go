// This file checks the size of functions (the numbers of paths and lines), and counts exported names that are not
// used. The limits must never be increased.

package structure

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// These are limits for functions outside of tests. A function should have at most maxPaths paths through its code and
// at most maxLong lines. The constants overPaths and overLong are the present numbers of functions that exceed these
// limits. More functions are not permitted.
const (
	maxPaths, overPaths = 15, 60
	maxLong, overLong   = 80, 6
)

// maxUnused is the present number of exported names that no other package uses.
const maxUnused = 23

// paths returns the cyclomatic complexity of a function, which is the number of branches plus 1.
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
		wrong = append(
			wrong,
			fmt.Sprintf(
				"%d functions have more than %d paths, %d may:\n\t%s",
				len(branchy),
				maxPaths,
				h.limits.branchy,
				strings.Join(branchy, "\n\t"),
			),
		)
	}
	if len(long) > h.limits.long {
		wrong = append(
			wrong,
			fmt.Sprintf(
				"%d functions have more than %d lines, %d may:\n\t%s",
				len(long),
				maxLong,
				h.limits.long,
				strings.Join(long, "\n\t"),
			),
		)
	}
	return wrong
}

var sizeRules = []rule{
	{"FunctionsAreShort", functionsAreShort, map[string]string{
		"a.go": "package oxbow\nfunc a(n int) int {" + strings.Repeat("if n > 0 && n < 9 { n++ };", 7) + "return n }",
		"b.go": "package oxbow\nfunc b(n int) int {" + strings.Repeat("if n > 0 && n < 9 { n++ };", 8) + "return n }",
		"c.go": "package oxbow\nfunc c() {" + strings.Repeat("\n", 80) + "}",
		"d.go": "package oxbow\nfunc d() {" + strings.Repeat("\n", 79) + "}",
	}, []string{
		"1 functions have more than 15 paths, 0 may:\n\tb.go: b has 17 paths",
		"1 functions have more than 80 lines, 0 may:\n\tc.go: c has 81 lines",
	}},
}
