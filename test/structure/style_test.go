// This file checks for expressions and statements that are difficult to read.

package structure

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// operatorsAreGrouped finds expressions that contain && and || without parentheses.
func operatorsAreGrouped(h *house) []string {
	return inspectAll(h, func(n ast.Node) (ast.Node, string) {
		or, ok := n.(*ast.BinaryExpr)
		if !ok || or.Op != token.LOR {
			return nil, ""
		}
		for _, side := range []ast.Expr{or.X, or.Y} {
			if and, ok := side.(*ast.BinaryExpr); ok && and.Op == token.LAND {
				return and, "&& beside || has no parentheses"
			}
		}
		return nil, ""
	})
}

// headersChangeNothing returns the positions of if statements whose header changes existing state. Such a header has an
// initialization other than a declaration with :=, such as an assignment to an existing variable or a function call.
func headersChangeNothing(h *house) []string {
	return inspectAll(h, func(n ast.Node) (ast.Node, string) {
		s, ok := n.(*ast.IfStmt)
		if !ok || s.Init == nil {
			return nil, ""
		}
		if a, ok := s.Init.(*ast.AssignStmt); ok && a.Tok == token.DEFINE {
			return nil, ""
		}
		return s.Init, "the header of an if changes existing state"
	})
}

// assignmentsAreSingle finds assignments of three or more values in one statement. If a value depends on one of the
// assigned variables, the assignment is permitted.
func assignmentsAreSingle(h *house) []string {
	return inspectAll(h, func(n ast.Node) (ast.Node, string) {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Rhs) < 3 {
			return nil, ""
		}
		assigned := map[string]bool{}
		for _, e := range a.Lhs {
			assigned[rootName(e)] = true
		}
		mentions := false
		for _, e := range a.Rhs {
			ast.Inspect(e, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				mentions = mentions || (ok && assigned[id.Name])
				return true
			})
		}
		if mentions {
			return nil, ""
		}
		return a, fmt.Sprintf("%d values are assigned at once", len(a.Rhs))
	})
}

// maxColumns is the maximum width of a line in columns. A tab has the width of four columns.
const maxColumns = 120

// maxLiteral is the maximum width of a string literal, in columns, for which a line may not be longer than maxColumns.
// If a line contains a wider literal, the line may be longer. Such a literal, for example a regular expression, would
// be difficult to read in two parts.
const maxLiteral = 80

// linesAreShort finds lines of code that are longer than maxColumns, in this module and in the modules inside it.
func linesAreShort(h *house) (wrong []string) {
	for _, f := range slices.Concat(h.files, h.outside) {
		if ast.IsGenerated(f.ast) {
			continue
		}
		hasLiteral := linesWithLongLiterals(f.text)
		hasOutput := strings.Contains(f.text, "// Output:") // The output of an example is compared line by line.
		for i, line := range strings.Split(f.text, "\n") {
			columns := columnsOf(line)
			isOutput := hasOutput && strings.HasPrefix(strings.TrimSpace(line), "//")
			if columns > maxColumns && !hasLiteral[i+1] && !isOutput {
				wrong = append(wrong, fmt.Sprintf("%s:%d: the line has %d columns", f.path, i+1, columns))
			}
		}
	}
	return wrong
}

// columnsOf returns the width of a line in columns.
func columnsOf(text string) int {
	return utf8.RuneCountInString(strings.ReplaceAll(text, "\t", "    "))
}

// linesWithLongLiterals returns the numbers of the lines that contain a string literal wider than maxLiteral or a part
// of a string literal with several lines.
func linesWithLongLiterals(source string) map[int]bool {
	lines := map[int]bool{}
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, 0)
	for {
		pos, kind, literal := s.Scan()
		if kind == token.EOF {
			return lines
		}
		if kind != token.STRING {
			continue
		}
		first := file.Line(pos)
		last := first + strings.Count(literal, "\n")
		if last > first || columnsOf(literal) > maxLiteral {
			for line := first; line <= last; line++ {
				lines[line] = true
			}
		}
	}
}

// promisedBools contains the methods of public packages that have a parameter of type bool for a dry run. Their
// signatures cannot change, because programs outside of this module rely on them. Two of the methods are implemented
// by stores and layouts outside of this module.
var promisedBools = []string{
	"(store.Compactor).Compact",
	"(*..Memory).RedactVersions", // This method is in the root package, whose path is ".".
}

// argumentsHaveNames finds calls of functions, methods and function variables of this module that pass the literal
// true or false to a parameter of type bool. A reader of such a call cannot see what the literal means. In tests,
// these calls are permitted.
func argumentsHaveNames(h *house) (wrong []string) {
	for _, dir := range slices.Sorted(maps.Keys(h.linux())) {
		checked := h.typeCheck(dir)
		for _, f := range h.linux()[dir] {
			if ast.IsGenerated(f.ast) {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					wrong = append(wrong, h.bareBools(checked, call)...)
				}
				return true
			})
		}
	}
	return wrong
}

// bareBools returns a problem for each literal true or false that a call passes to a function of this module. Methods
// in promisedBools are exempt, because their signatures cannot change.
func (h *house) bareBools(checked *typed, call *ast.CallExpr) (wrong []string) {
	callee := calledFunction(checked, call)
	if callee == nil || callee.Pkg() == nil {
		return nil
	}
	signature, ok := callee.Type().Underlying().(*types.Signature)
	if !ok {
		return nil // The call is a conversion.
	}
	if dir := callee.Pkg().Path(); len(h.linux()[dir]) == 0 {
		return nil // The function belongs to the standard library or to another module.
	}
	if method, ok := callee.(*types.Func); ok && slices.Contains(promisedBools, method.FullName()) {
		return nil
	}
	for i, arg := range call.Args {
		param := signature.Params().At(min(i, signature.Params().Len()-1))
		paramType := param.Type()
		if list, ok := paramType.(*types.Slice); ok && signature.Variadic() && i >= signature.Params().Len()-1 {
			paramType = list.Elem()
		}
		if !types.Identical(paramType, types.Typ[types.Bool]) {
			continue
		}
		id, ok := ast.Unparen(arg).(*ast.Ident)
		if ok && (id.Name == "true" || id.Name == "false") {
			wrong = append(wrong, fmt.Sprintf(
				"%s: %s is called with the literal %s for %s: give each of the two behaviors a function, "+
					"or use a type with named constants or a field of a struct",
				h.fset.Position(arg.Pos()), callee.Name(), id.Name, param.Name(),
			))
		}
	}
	return wrong
}

// calledFunction returns the function, method or variable that call calls. It returns nil if call calls anything else,
// such as a function literal. For an instance of a generic function, it returns the generic function.
func calledFunction(checked *typed, call *ast.CallExpr) types.Object {
	fun := ast.Unparen(call.Fun)
	switch x := fun.(type) {
	case *ast.IndexExpr:
		fun = x.X
	case *ast.IndexListExpr:
		fun = x.X
	}
	var id *ast.Ident
	switch x := fun.(type) {
	case *ast.Ident:
		id = x
	case *ast.SelectorExpr:
		id = x.Sel
	default:
		return nil
	}
	switch callee := checked.Uses[id].(type) {
	case *types.Func:
		return callee.Origin()
	case *types.Var:
		return callee.Origin()
	}
	return nil
}

// rootName returns the name of the variable at the beginning of an expression. If there is no such variable, rootName
// returns "".
func rootName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// inspectAll calls find for each node of all files that are not generated. It returns the problems that find reports,
// with their positions.
func inspectAll(h *house, find func(n ast.Node) (place ast.Node, what string)) (wrong []string) {
	for _, f := range h.files {
		if ast.IsGenerated(f.ast) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if place, what := find(n); what != "" {
				wrong = append(wrong, fmt.Sprintf("%s: %s", h.fset.Position(place.Pos()), what))
			}
			return true
		})
	}
	return wrong
}

var styleRules = []rule{
	{"OperatorsAreGrouped", operatorsAreGrouped, map[string]string{
		"a.go": "package oxbow\nfunc a(b, c, d bool) bool { return b || (c && d) }",
		"b.go": "package oxbow\nfunc b(b, c, d bool) bool {\n\treturn b && c || d\n}",
		"c.go": "// Code generated by x. DO NOT EDIT.\n\npackage oxbow\n\nfunc c(b, c, d bool) bool { return b && c " +
			"|| d }",
	}, []string{"b.go:3:9: && beside || has no parentheses"}},
	{"HeadersChangeNothing", headersChangeNothing, map[string]string{
		"a.go": "package oxbow\nfunc a() { if err := b(); err != nil { return } }",
		"b.go": "package oxbow\nfunc b() (err error) {\n\tif err = b(); err != nil {\n\t\treturn err\n\t}\n\treturn " +
			"nil\n}",
		"c.go": "package oxbow\nfunc c(n int) {\n\tif n++; n > 1 {\n\t\treturn\n\t} else if a(); n > 2 " +
			"{\n\t\treturn\n\t}\n}",
	}, []string{
		"b.go:3:5: the header of an if changes",
		"c.go:3:5: the header of an if changes",
		"c.go:5:12: the header of an if changes",
	}},
	{"AssignmentsAreSingle", assignmentsAreSingle, map[string]string{
		"a.go": "package oxbow\nfunc a() { b, c := 1, 2; b, c, d := c, b, 1; e, f, g := b(); _, _, _, _, _, _ = b, " +
			"c, d, e, f, g }",
		"b.go": "package oxbow\nfunc b() {\n\tb, c, d := 1, 2, 3\n\tx.b, x.c, x.d = 1, 2, b\n\tx.b, x.c, x.d = 1, 2, " +
			"x.d\n}",
	}, []string{"a.go:2:62: 6 values", "b.go:3:2: 3 values", "b.go:4:2: 3 values"}},
	{"LinesAreShort", linesAreShort, map[string]string{
		"a.go": "package oxbow\n\nvar a = 1 // " + strings.Repeat("a", 107),
		"b.go": "package oxbow\n\nfunc b() {\n\tb(" + strings.Repeat("1, ", 40) + "1)\n}",
		"c.go": "package oxbow\n\nvar c = `" + strings.Repeat("c", 200) + "`",
		"d.go": "package oxbow\n\nvar d = `\n" + strings.Repeat("d", 200) + "\n`",
	}, []string{"b.go:4: the line has 128 columns"}},
	{"ArgumentsHaveNames", argumentsHaveNames, map[string]string{
		"a.go": "package oxbow\nimport x \"" + module + "/x\"\nfunc a(b bool) {\n\ta(b)\n\ta(true)\n\tx.T{}.M(1, " +
			"(false), true)\n\tx.G(true)\n\tx.Any(true)\n}",
		"x/x.go": "package x\ntype T struct{}\nfunc (T) M(n int, b ...bool) {}\nfunc G[V any](v V) {}\n" +
			"func Any(v any) {}",
		"a_test.go": "package oxbow\nfunc init() { a(true) }",
	}, []string{
		"a.go:5:4: a is called with the literal true for b",
		"a.go:6:13: M is called with the literal false for b",
		"a.go:6:22: M is called with the literal true for b",
	}},
}
