// This file checks the public packages. The list of them must be complete, and programs outside of this module must be
// able to name the types that public packages return and accept.

package structure

import (
	"fmt"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
)

// public contains the packages that programs outside of this module may import: the library, its interfaces for stores
// and files, the interface of layouts, and the profiles. The packages of the layouts, which are directly below layout,
// are also public. All other packages are below internal, cmd or test.
var public = []string{
	".", "store", "store/heads", "store/storetest", "query", "scope", "vfs", "vfs/vfstest", "profile", "layout",
}

// publicPackages returns the sorted directories of all public packages in the module.
func publicPackages(h *house) []string {
	found := map[string]bool{}
	for _, f := range h.files {
		isLayout := path.Dir(f.dir) == "layout" && f.dir != "layout/internal"
		if !f.test && (isLayout || slices.Contains(public, f.dir)) {
			found[f.dir] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// forLayouts contains the names that only layouts of this module need. Programs that use a layout do not need these
// names.
var forLayouts = []string{"layout.Base", "layout.NewBase", "layout.DocumentOptions"}

// isPublic reports whether programs outside of this module can import the package and may rely on it.
func isPublic(dir string) bool {
	first, _, _ := strings.Cut(dir, "/")
	return first != "cmd" && first != "test" && first != "internal" && !strings.Contains(dir, "/internal/")
}

func onlyListedIsPublic(h *house) (wrong []string) {
	found := map[string]bool{}
	for _, f := range h.files {
		if !f.test && isPublic(f.dir) {
			found[f.dir] = true
		}
	}
	listed := publicPackages(h)
	for _, dir := range slices.Sorted(maps.Keys(found)) {
		if !slices.Contains(listed, dir) {
			wrong = append(
				wrong,
				fmt.Sprintf(
					"package %s is public and not listed: put it below internal, or list it and write an example",
					dir,
				),
			)
		}
	}
	return wrong
}

// publicTypesHaveNames finds types of internal packages that occur in exported signatures, fields and methods of a
// public package and for which no public package has an alias.
func publicTypesHaveNames(h *house) (wrong []string) {
	named := map[*types.TypeName]bool{} // internal types for which there is a public alias
	packages := publicPackages(h)
	for _, dir := range packages {
		if c := h.typeCheck(dir); c.Package != nil {
			for _, name := range c.Scope().Names() {
				if t, ok := c.Scope().Lookup(name).(*types.TypeName); ok && t.Exported() {
					if n, ok := types.Unalias(t.Type()).(*types.Named); ok {
						named[n.Obj()] = true
					}
				}
			}
		}
	}
	for _, dir := range packages {
		c := h.typeCheck(dir)
		if c.Package == nil {
			continue
		}
		for _, name := range c.Scope().Names() {
			if obj := c.Scope().Lookup(name); obj.Exported() && !slices.Contains(forLayouts, dir+"."+name) {
				for _, t := range hidden(obj, dir) {
					if !named[t] {
						wrong = append(
							wrong,
							fmt.Sprintf(
								"%s: %s needs %s.%s, which no public package names",
								dir,
								name,
								t.Pkg().Path(),
								t.Name(),
							),
						)
					}
				}
			}
		}
	}
	return wrong
}

// hidden returns the exported types of internal packages that occur in the type of a package's object.
func hidden(obj types.Object, dir string) (found []*types.TypeName) {
	seen := map[types.Type]bool{}
	var look func(t types.Type)
	look = func(t types.Type) {
		t = types.Unalias(t)
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Named:
			if p := t.Obj().Pkg(); p != nil && p.Path() != dir {
				if strings.HasPrefix(p.Path(), "internal/") && t.Obj().Exported() {
					found = append(found, t.Obj())
				}
				return
			}
			for i := range t.NumMethods() {
				if m := t.Method(i); m.Exported() {
					look(m.Type())
				}
			}
			look(t.Underlying())
		case *types.Struct:
			for i := range t.NumFields() {
				if f := t.Field(i); f.Exported() {
					look(f.Type())
				}
			}
		case *types.Interface:
			for i := range t.NumMethods() {
				look(t.Method(i).Type())
			}
		case *types.Signature:
			look(t.Params())
			look(t.Results())
		case *types.Tuple:
			for i := range t.Len() {
				look(t.At(i).Type())
			}
		case *types.Map:
			look(t.Key())
			look(t.Elem())
		case interface{ Elem() types.Type }:
			look(t.Elem())
		}
	}
	look(obj.Type())
	return found
}

var publicRules = []rule{
	{"OnlyListedIsPublic", onlyListedIsPublic, map[string]string{
		"a.go":                   "package oxbow",
		"helpers/a.go":           "package helpers",
		"test/structure/a.go":    "package structure",
		"internal/x/a.go":        "package x",
		"layout/internal/x/a.go": "package x",
		"layout/example/a.go":    "package example",
		"layout/example/x/a.go":  "package x",
		"cmd/oxbow/main.go":      "package main",
	}, []string{"package helpers is public and not listed", "package layout/example/x is public and not listed"}},
	{"PublicTypesHaveNames", publicTypesHaveNames, map[string]string{
		"internal/x/a.go": "package x\ntype A struct{}\ntype B struct{}\ntype C struct{}",
		"a.go": "package oxbow\nimport \"" + module +
			"/internal/x\"\ntype B = x.B\nfunc F() (x.A, error) { return x.A{}, nil }\nfunc G(*x.B) {}\ntype T " +
			"struct{ c x.C }",
		"scope/a.go": "package scope\nimport \"" + module +
			"/internal/x\"\ntype S struct{ L []x.C }\nfunc h(x.A) {}",
	}, []string{".: F needs internal/x.A", "scope: S needs internal/x.C"}},
}
