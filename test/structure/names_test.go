// This file checks names. Each exported name must be used, and each comment of a declaration must begin with the name
// that it documents.

package structure

import (
	"fmt"
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

// exportedNamesAreUsed counts the exported top-level names that no other package uses. If there are more than
// h.limits.unused, it returns a message that lists them. Tests and the modules in subdirectories of this module count
// as other packages. Names that occur in an exported signature or field of their own package also count as used.
func exportedNamesAreUsed(h *house) (wrong []string) {
	used := map[string]bool{} // The keys have the form directory.Name.
	for _, f := range slices.Concat(h.files, h.outside) {
		promised(f.ast, func(name string) { used[f.dir+"."+name] = true })
		local := map[string]string{}
		for _, s := range f.ast.Imports {
			imp := strings.Trim(s.Path.Value, `"`)
			dir, ok := inner(imp)
			if !ok || dir == f.dir {
				continue
			}
			name := path.Base(imp)
			if s.Name != nil {
				name = s.Name.Name
			}
			local[name] = dir
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && local[x.Name] != "" {
					used[local[x.Name]+"."+s.Sel.Name] = true
				}
			}
			return true
		})
	}
	unused := map[string]bool{}
	for _, f := range h.files {
		// No other package can use names in tests and main packages. The names in layout/public.go are for use by other
		// modules.
		if f.test || f.ast.Name.Name == "main" || f.path == "layout/public.go" {
			continue
		}
		for _, id := range topLevel(f.ast) {
			if id.IsExported() && !used[f.dir+"."+id.Name] {
				unused[f.dir+"."+id.Name] = true
			}
		}
	}
	if len(unused) > h.limits.unused {
		wrong = append(wrong, fmt.Sprintf("%d exported names are used by no other package, %d may be: %s",
			len(unused), h.limits.unused, strings.Join(slices.Sorted(maps.Keys(unused)), " ")))
	}
	return wrong
}

// promised calls fn with the names that occur in the exported signatures and fields of a file.
func promised(f *ast.File, fn func(name string)) {
	names := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				fn(id.Name)
			}
			_, other := n.(*ast.SelectorExpr)
			return !other
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() {
				names(d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok || !s.Name.IsExported() {
					continue
				}
				if t, ok := s.Type.(*ast.StructType); ok {
					for _, field := range t.Fields.List {
						if field.Names == nil || field.Names[0].IsExported() {
							names(field.Type)
						}
					}
				} else {
					names(s.Type)
				}
			}
		}
	}
}

// topLevel returns the identifiers that a file declares at the top level, without methods.
func topLevel(f *ast.File) (ids []*ast.Ident) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				ids = append(ids, d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					ids = append(ids, s.Name)
				case *ast.ValueSpec:
					ids = append(ids, s.Names...)
				}
			}
		}
	}
	return ids
}

// commentsBeginWithTheName checks that each comment of a function or type begins with the name of the function or type,
// as is usual in Go. The words A, An and The are allowed before the name. The check finds comments that still contain
// an old name after a function or type was renamed.
func commentsBeginWithTheName(h *house) (wrong []string) {
	look := func(doc *ast.CommentGroup, id *ast.Ident) {
		words := append(strings.Fields(doc.Text()), "", "")
		if slices.Contains([]string{"A", "An", "The"}, words[0]) {
			words = words[1:]
		}
		if first := strings.TrimRight(words[0], ",:"); first != "" && first != id.Name {
			wrong = append(
				wrong,
				fmt.Sprintf("%s: the comment of %s begins with %q", h.fset.Position(id.Pos()), id.Name, first),
			)
		}
	}
	for _, f := range slices.Concat(h.files, h.outside) {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for _, d := range f.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				look(d.Doc, d.Name)
			case *ast.GenDecl:
				if d.Lparen.IsValid() {
					continue
				}
				if t, ok := d.Specs[0].(*ast.TypeSpec); ok {
					look(d.Doc, t.Name)
				}
			}
		}
	}
	return wrong
}

var nameRules = []rule{
	{"CommentsBeginWithTheName", commentsBeginWithTheName, map[string]string{
		"a.go": "package oxbow\n\n// F does.\nfunc F() {}\n\n// old does.\nfunc (T) New() {}\n\n// A T is.\ntype T " +
			"int\n\n// W is.\ntype V int\n\ntype (\n\t// no\n\tX int\n)\n\nfunc y() {}",
	}, []string{`a.go:7:10: the comment of New begins with "old"`, `a.go:13:6: the comment of V begins with "W"`}},
	{"ExportedNamesAreUsed", exportedNamesAreUsed, map[string]string{
		"a.go": "package oxbow\nfunc A() {}\nfunc B() {}\ntype T struct{}\nfunc (T) M() {}\nvar x, Y = 1, " +
			"2\ntype U struct{ r R }\ntype V []W\ntype W int\ntype R int\nfunc (*T) N() *U { return nil }",
		"tool/a.go":      "package tool; import o \"" + module + "\"\nvar _ = o.A",
		"tool/a_test.go": "package tool; import \"" + module + "\"\nvar _ oxbow.T",
		"a_test.go":      "package oxbow_test; import \"" + module + "\"\nvar _ = oxbow.B",
		"cmd/x/a.go":     "package main\nfunc Unused() {}",
	}, []string{"4 exported names are used by no other package, 0 may be: ..B ..R ..V ..Y"}},
}
