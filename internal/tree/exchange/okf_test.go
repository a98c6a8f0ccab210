// This file tests that bundles in the Open Knowledge Format are the same after an import and an export.

package exchange

import (
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/frontmatter"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/vfs"
)

// bundle exports a store as a bundle.
func bundle(t *testing.T, s oxbow.Store) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem()
	if _, err := ExportOKF(t.Context(), s, oxbow.Filter{}, mem); err != nil {
		t.Fatal(err)
	}
	return mem
}

// bundleFiles returns the paths of all files below a directory.
func bundleFiles(t *testing.T, fsys vfs.FS, dir string) (files []string) {
	t.Helper()
	list, err := fsys.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if d.IsDir() {
			files = append(files, bundleFiles(t, fsys, path.Join(dir, d.Name()))...)
		} else {
			files = append(files, path.Join(dir, d.Name()))
		}
	}
	return files
}

// frontOf returns all keys and values in the front matter of a file. If the file has no front matter, frontOf ends the
// test.
func frontOf(t *testing.T, fsys vfs.FS, name string) map[string]any {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	data, _, ok := frontmatter.SplitFrontMatter(string(b))
	var front map[string]any
	if err := yaml.Unmarshal([]byte(data), &front); err != nil || !ok {
		t.Fatalf("%s has no front matter: %v\n%s", name, err, b)
	}
	return front
}

func TestOKFRoundTrip(t *testing.T) {
	s := newStore()
	add := func(a oxbow.Add) {
		if err := s.Apply(oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person}), a); err != nil {
			t.Fatal(err)
		}
	}
	label := func(pairs ...string) (ls []oxbow.Label) {
		for i := 0; i < len(pairs); i += 2 {
			ls = append(ls, oxbow.Label{Key: pairs[i], Value: pairs[i+1]})
		}
		return oxbow.SortLabels(ls)
	}
	created := time.Date(2025, 3, 4, 5, 6, 7, 123456789, time.UTC)
	add(oxbow.Add{Name: "deploy: how", Kind: oxbow.Note, Content: "\n\n# Deploy\n\nUse the crane. Twice.\n\n",
		Aliases: []string{"ship", "true"}, Created: created, Labels: label("tag", "a", "tag", "null",
			"project", "harbor", "type", "guide", "title", "x", "file", "a: b #c",
			"stale_after", "2026-09-23", "count", "007",
			"flag", "yes", "sources", `{"resource":"https://x.example","usage_count":5000}`,
			"okf", `{"Owner Team":"moorings"}`)})
	add(oxbow.Add{Name: "Deploy, how", Kind: oxbow.Journal, Content: "x",
		Labels: label("type", "journal", "type", "note")})
	add(
		oxbow.Add{
			Name:    "index",
			Kind:    oxbow.Note,
			Content: "---\nnot: front\n---\n",
			Labels:  label("type", "archive"),
		},
	)
	add(oxbow.Add{Name: "日本", Kind: oxbow.Archive, Content: "", Labels: label("description", "d", "status", "draft")})
	add(oxbow.Add{Name: "long", Kind: oxbow.Note, Content: strings.Repeat("# H\n\nword word\n\n", 4000)})
	mem := bundle(t, s)
	again := newStore()
	rep := load(t, again, Read(mem, ".", nil), nil)
	if rep.AddedCount != len(s.entries) || rep.SkippedCount != 1 {
		t.Errorf("read back as %+v", rep)
	}
	for _, e := range s.entries {
		got, err := again.Get(t.Context(), e.Name)
		if err != nil || got.Kind != e.Kind || got.Content != e.Content || !slices.Equal(got.Aliases, e.Aliases) ||
			!slices.Equal(got.Labels, e.Labels) || !got.Created.Equal(e.Created) {
			t.Errorf("%+v\ncame back as\n%+v, %v", e, got, err)
		}
	}
	if rep := load(t, again, Read(mem, ".", nil), nil); rep.AddedCount+rep.UpdatedCount != 0 {
		t.Errorf("a second import: %+v", counts(rep))
	}
	conforms(t, mem)
}

// conforms checks that the files of an OKF bundle conform to section 11 of the specification of OKF 0.2.
func conforms(t *testing.T, fsys vfs.FS) {
	t.Helper()
	for _, name := range bundleFiles(t, fsys, ".") {
		b, err := vfs.ReadFile(fsys, name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		switch base := path.Base(name); {
		case name == "index.md":
			if front := frontOf(t, fsys, name); !reflect.DeepEqual(front, map[string]any{"okf_version": "0.2"}) {
				t.Errorf("the index has the front matter %v", front)
			}
		case base == "index.md" || base == "log.md":
			if !strings.HasPrefix(string(b), "# ") {
				t.Errorf("%s does not begin with a heading:\n%s", name, b)
			}
		default:
			if typ, _ := frontOf(t, fsys, name)[conceptTypeKey].(string); typ == "" {
				t.Errorf("%s has no type:\n%s", name, b)
			}
		}
	}
}

// TestOKFOfOthers tests that an OKF bundle that another program wrote keeps its front matter if it is imported and
// exported. oxbow may add its own keys, and a description or tags in another order.
func TestOKFOfOthers(t *testing.T) {
	fsys := openPrograms(t)
	s := newStore()
	load(t, s, Read(fsys, "okf", nil), nil)
	mem := bundle(t, s)
	conforms(t, mem)
	for file, written := range map[string]string{
		"okf/tables/berths.md":      "note/berths.md",
		"okf/computations/depth.md": "note/depth-of-a-berth.md",
	} {
		want, got := frontOf(t, fsys, file), frontOf(t, mem, written)
		for _, key := range []string{oxbowPropertiesKey, conceptAliasesKey, LabelImportFile, importDigestLabelKey} {
			delete(got, key)
		}
		if want["description"] == nil {
			delete(got, "description")
		}
		if want["status"] == nil {
			delete(got, "status")
		}
		sortTags(want)
		if !reflect.DeepEqual(got, want) {
			b, _ := vfs.ReadFile(mem, written, 1<<20)
			t.Errorf("%s\n%v\nis written as\n%v\n%s", file, want, got, b)
		}
	}
}

// TestOKFExample imports a bundle with the features of the format's public examples, exports it, and compares each
// concept. An import of the export must give the same entries again.
func TestOKFExample(t *testing.T) {
	fsys, err := vfs.Dir(filepath.Join("testdata", "bundles"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { fsys.Close() })
	s := newStore()
	rep := load(t, s, Read(fsys, "ferries", nil), nil)
	if rep.AddedCount != 7 || len(s.entries) != 7 {
		t.Fatalf("of 7 concepts, %d were imported: %+v", rep.AddedCount, rep)
	}
	mem := bundle(t, s)
	conforms(t, mem)
	for _, name := range bundleFiles(t, fsys, "ferries") {
		if path.Ext(name) != ".md" || checkConceptFile(name) != nil {
			continue
		}
		want := frontOf(t, fsys, name)
		e, err := s.Get(t.Context(), want[conceptTitleKey].(string))
		id := strings.TrimSuffix(strings.TrimPrefix(name, "ferries/"), ".md")
		if err != nil || !slices.Contains(e.Aliases, id) {
			t.Errorf("%s is %+v, %v", name, e, err)
			continue
		}
		written := "note/" + text.MakeSlug(e.Name) + ".md"
		got := frontOf(t, mem, written)
		derived, _ := got[oxbowPropertiesKey].(map[string]any)["derived"].([]any)
		for _, key := range derived {
			if key != conceptTypeKey {
				delete(got, key.(string))
			}
		}
		delete(got, oxbowPropertiesKey)
		delete(got, conceptAliasesKey)
		sortTags(got)
		sortTags(want)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n%v\nis written as\n%v", name, want, got)
		}
		if g, w := bodyOf(t, mem, written), bodyOf(t, fsys, name); g != w {
			t.Errorf("%s has the text\n%q\nwant\n%q", name, g, w)
		}
	}
	again := newStore()
	load(t, again, Read(mem, ".", nil), nil)
	for _, e := range s.entries {
		got, err := again.Get(t.Context(), e.Name)
		if err != nil || got.Content != e.Content || !slices.Equal(got.Aliases, e.Aliases) ||
			!slices.Equal(got.Labels, e.Labels) || !got.Created.Equal(e.Created) {
			t.Errorf("%+v\ncame back as\n%+v, %v", e, got, err)
		}
	}
	if len(again.entries) != len(s.entries) {
		t.Errorf("%d entries came back, want %d", len(again.entries), len(s.entries))
	}
	if rep := load(t, s, Read(fsys, "ferries", nil), nil); rep.AddedCount+rep.UpdatedCount != 0 ||
		rep.UnchangedCount != 7 {
		t.Errorf("a second import: %+v", counts(rep))
	}
}

// sortTags sorts the tags of front matter, because the labels of an entry have no order.
func sortTags(front map[string]any) {
	if tags, ok := front[conceptTagsKey].([]any); ok {
		slices.SortFunc(tags, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
}

// bodyOf returns the text of a file without its front matter.
func bodyOf(t *testing.T, fsys vfs.FS, name string) string {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := frontmatter.SplitFrontMatter(string(b))
	return body
}

func FuzzOKF(f *testing.F) {
	fsys := openPrograms(f)
	for _, name := range []string{"okf/tables/berths.md", "okf/computations/depth.md"} {
		b, err := vfs.ReadFile(fsys, name, 1<<20)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte("---\ntype: x\na: &a [*a]\n? [b]\n: c\n---\n"))
	f.Add([]byte("---\ntype: x\noxbow: {kind: note, labels: {tag: [a]}}\n---\n\nx"))
	f.Fuzz(func(t *testing.T, in []byte) {
		checkItems(t, openKnowledgeFormat, in)
		s := newStore()
		if _, err := Import(t.Context(), s, ReadStream(strings.NewReader(string(in)), "f",
			&ReadOptions{Format: openKnowledgeFormat}),
			nil); err != nil {
			return
		}
		bundle(t, s)
	})
}
