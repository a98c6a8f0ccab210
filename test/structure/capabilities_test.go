// This file checks that optional interfaces of stores are found in one place.

package structure

import (
	"fmt"
	"go/ast"
)

// capabilitiesFile is the file that lists the optional interfaces of a store and finds them in a given store.
const capabilitiesFile = "store/capabilities.go"

// capabilitiesAreLookedUp finds type assertions to an optional interface of a store. Such an assertion can give a wrong
// answer for a store that wraps another store. The wrapper may have the methods although the wrapped store does not
// support them. Code must call CapabilitiesOf instead, which asks the store itself.
func capabilitiesAreLookedUp(h *house) (wrong []string) {
	optional := h.optionalInterfaces()
	for _, f := range h.files {
		if f.test || f.path == capabilitiesFile {
			continue
		}
		check := func(e ast.Expr) {
			name := ""
			switch e := e.(type) {
			case *ast.SelectorExpr:
				pkg, ok := e.X.(*ast.Ident)
				if !ok || (pkg.Name != "oxbow" && pkg.Name != "store") {
					return
				}
				name = e.Sel.Name
			case *ast.Ident:
				if f.dir != "." && f.dir != "store" {
					return
				}
				name = e.Name
			}
			if optional[name] {
				wrong = append(wrong, fmt.Sprintf("%s: the type is asserted to be %s; use CapabilitiesOf",
					h.fset.Position(e.Pos()), name))
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				if !isContextValue(n.X) {
					check(n.Type)
				}
			case *ast.TypeSwitchStmt:
				for _, c := range n.Body.List {
					for _, e := range c.(*ast.CaseClause).List {
						check(e)
					}
				}
			}
			return true
		})
	}
	return wrong
}

// isContextValue reports whether an expression is a call of the method Value. The result of such a call may have any
// type.
func isContextValue(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	method, ok := call.Fun.(*ast.SelectorExpr)
	return ok && method.Sel.Name == "Value"
}

// optionalInterfaces returns the names of the interfaces that the struct Capabilities lists.
func (h *house) optionalInterfaces() map[string]bool {
	names := map[string]bool{}
	for _, f := range h.files {
		if f.path != capabilitiesFile {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || spec.Name.Name != "Capabilities" {
				return true
			}
			for _, field := range spec.Type.(*ast.StructType).Fields.List {
				if id, ok := field.Type.(*ast.Ident); ok {
					names[id.Name] = true
				}
			}
			return false
		})
	}
	return names
}

var capabilityRules = []rule{
	{"CapabilitiesAreLookedUp", capabilitiesAreLookedUp, map[string]string{
		capabilitiesFile: "package store\ntype Capabilities struct {\n\tWatcher Watcher\n}\n" +
			"func of(s any) { _ = s.(Watcher) }",
		"a.go":   "package oxbow\nfunc a(s any) {\n\t_, _ = s.(Watcher)\n}",
		"b/b.go": "package b\nfunc b(s any) {\n\tswitch s.(type) {\n\tcase int, oxbow.Watcher:\n\t}\n}",
		"c/c.go": "package c\nfunc c(s any) { _ = s.(Watcher); _ = s.(vfs.Watcher); _ = s.(oxbow.Store); " +
			"_ = ctx.Value(0).(oxbow.Watcher) }",
		"a_test.go": "package oxbow\nfunc t(s any) { _ = s.(Watcher) }",
	}, []string{
		"a.go:3:12: the type is asserted to be Watcher",
		"b/b.go:4:12: the type is asserted to be Watcher",
	}},
}
