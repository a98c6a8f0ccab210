// This file checks the names that comments mention. A comment often becomes wrong when a name is changed.

package structure

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	// commentLink matches a link in a comment, such as [Memory.Recall] or [store.Entry.ID].
	commentLink = regexp.MustCompile(`(?:^|[^\w\])])\[\*?([A-Za-z_]\w*)(?:\.([A-Za-z_]\w*))?(?:\.([A-Za-z_]\w*))?\]`)

	// exportedWord matches a name that is exported and is not an abbreviation, such as Memory.
	exportedWord = regexp.MustCompile(`^[A-Z]\w*[a-z]`)

	// commentSelector matches a selector with an exported or an unexported name, such as m.Recall or Options.Cache.
	commentSelector = regexp.MustCompile(`(?:^|[^\w./\-"])([A-Za-z]\w*)\.([A-Za-z_]\w*)\b`)

	// fileExtension matches the name in a selector that is rather the extension of a file name, as in go.mod.
	fileExtension = regexp.MustCompile(`^(go|mod|sum|md|jsonl?|txt|html|js|toml|ya?ml|db|sh|log|oxbow|lock|key)$`)
)

// commentReferencesExist checks the names in comments that are written as links or as selectors. In a link such as
// [store.Entry], the package must have this name. In a selector such as in.Limit, the first part may be a parameter,
// a receiver, a result or a variable of the function, a type of the package, or a package that the file imports. Then
// the second part must be a field, a method or a name of it. Other words are not checked.
func commentReferencesExist(h *house) (wrong []string) {
	for _, dir := range slices.Sorted(maps.Keys(h.linux())) {
		checked := h.typeCheck(dir)
		if checked.Package == nil {
			continue
		}
		for _, f := range h.linux()[dir] {
			c := commentReader{checked: checked, file: f.ast, isOwnPackage: h.isPackageName}
			for _, g := range f.ast.Comments {
				for _, name := range c.unknownNames(g) {
					at := h.fset.Position(g.Pos())
					wrong = append(wrong, fmt.Sprintf("%s: the comment mentions %s, which does not exist", at, name))
				}
			}
		}
	}
	return wrong
}

// isPackageName reports whether a package of this module has this name.
func (h *house) isPackageName(name string) bool {
	for _, files := range h.linux() {
		if files[0].ast.Name.Name == name {
			return true
		}
	}
	return false
}

// commentReader finds the names in the comments of a file that do not exist.
type commentReader struct {
	checked      *typed
	file         *ast.File
	isOwnPackage func(name string) bool
}

// unknownNames returns the links and selectors in the comment whose names do not exist.
func (c commentReader) unknownNames(g *ast.CommentGroup) (unknown []string) {
	text := g.Text()
	for _, m := range commentLink.FindAllStringSubmatch(text, -1) {
		if !c.linkResolves(m[1], m[2], m[3]) {
			unknown = append(unknown, "["+strings.TrimRight(strings.Join(m[1:], "."), ".")+"]")
		}
	}
	text = commentLink.ReplaceAllString(text, "")
	for _, m := range commentSelector.FindAllStringSubmatch(text, -1) {
		if !fileExtension.MatchString(m[2]) && !c.selectorResolves(g, m[1], m[2]) {
			unknown = append(unknown, m[1]+"."+m[2])
		}
	}
	return slices.Compact(unknown)
}

// linkResolves reports whether a link leads to a name. The link has one to three parts, and the missing parts are "".
func (c commentReader) linkResolves(first, second, third string) bool {
	if own := c.checked.Scope().Lookup(first); own != nil {
		return second == "" || hasMember(own, second)
	}
	if second == "" {
		return !exportedWord.MatchString(first)
	}
	imported := c.importedPackage(first)
	if imported == nil {
		// A link to the standard library needs no import.
		return !c.isOwnPackage(first) && !exportedWord.MatchString(first)
	}
	target := imported.Scope().Lookup(second)
	return target != nil && (third == "" || hasMember(target, third))
}

// selectorResolves reports whether a selector in a comment exists. It returns true if first is neither a variable of
// the function, nor a type of the package, nor a package that the file imports.
func (c commentReader) selectorResolves(g *ast.CommentGroup, first, second string) bool {
	if v, ok := c.variable(g, first).(*types.Var); ok {
		return hasMember(v, second)
	}
	if named, ok := c.checked.Scope().Lookup(first).(*types.TypeName); ok {
		return hasMember(named, second)
	}
	for _, imported := range c.checked.Imports() {
		if imported.Name() == first && c.importsPath(imported.Path()) {
			return imported.Scope().Lookup(second) != nil
		}
	}
	return true
}

// variable returns the variable with this name in the function to which the comment belongs, or nil.
func (c commentReader) variable(g *ast.CommentGroup, name string) types.Object {
	for _, d := range c.file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || (fn.Doc != g && (g.Pos() < fn.Pos() || g.End() > fn.End())) {
			continue
		}
		scope := c.checked.Scopes[fn.Type]
		if scope == nil {
			return nil
		}
		if inner := scope.Innermost(g.Pos()); inner != nil {
			scope = inner
		}
		_, found := scope.LookupParent(name, token.NoPos)
		return found
	}
	return nil
}

// importedPackage returns the package with this name that a file of the package imports, or nil.
func (c commentReader) importedPackage(name string) *types.Package {
	for _, imported := range c.checked.Imports() {
		if imported.Name() == name {
			return imported
		}
	}
	return nil
}

// importsPath reports whether the file imports the package whose path, or whose path in this module, is path.
func (c commentReader) importsPath(path string) bool {
	return slices.ContainsFunc(c.file.Imports, func(s *ast.ImportSpec) bool {
		imp := strings.Trim(s.Path.Value, `"`)
		dir, ok := inner(imp)
		return imp == path || (ok && dir == path)
	})
}

// hasMember reports whether an object has a field or a method with this name.
func hasMember(o types.Object, name string) bool {
	member, _, _ := types.LookupFieldOrMethod(o.Type(), true, o.Pkg(), name)
	return member != nil
}

var referenceRules = []rule{
	{"CommentReferencesExist", commentReferencesExist, map[string]string{
		"a.go": "package oxbow\n\nimport \"" + module + "/store\"\n\n// T has [T.F], [T.Old], [store.Entry], " +
			"[store.Gone] and [os.File]. See go.mod, T.F and T.X.\ntype T struct{ F store.Entry }\n\n// M uses in.F and in.G of " +
			"[Missing], and store.Lost. It returns [n].\nfunc (t T) M(in T) (n int) {\n\t// Set t.F, not t.H.\n" +
			"\treturn 0\n}",
		"store/a.go": "package store\n\ntype Entry struct{ ID int }\n\n// An Entry has [Entry.ID], and not [other.ID].",
	}, []string{
		"a.go:5:1: the comment mentions [T.Old]", "a.go:5:1: the comment mentions T.X",
		"a.go:5:1: the comment mentions [store.Gone]",
		"a.go:8:1: the comment mentions [Missing]", "a.go:8:1: the comment mentions in.G",
		"a.go:8:1: the comment mentions store.Lost", "a.go:10:2: the comment mentions t.H",
	}},
}
