// This file compares the package with trees that crabtalk itself wrote and read.

package mdtree

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

type vectorEntry struct {
	Name      string
	Kind      string
	Content   string
	Aliases   []string
	CreatedAt int64 `json:"created_at"`
}

type dumpVector struct {
	Ops []struct {
		Op string
		vectorEntry
	}
	Tree     map[string]string
	Reloaded []vectorEntry
}

// store returns a store with the entries that crabtalk (the program whose file format is tested) added before it dumped
// its memory. Entries of the kind "topic" are left out, because oxbow stores topics as notes with a label, so their
// files would have different bytes.
func (v *dumpVector) store(t *testing.T) *mapStore {
	s := storeOf(t)
	for _, op := range v.Ops {
		if op.Op != "add" || op.Kind == "topic" {
			continue
		}
		kind, err := oxbow.ParseKind(op.Kind)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Apply(
			t.Context(),
			oxbow.Add{Name: op.Name, Kind: kind, Content: op.Content, Aliases: op.Aliases, Created: noon},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestDumpVectors checks that entry files have the same bytes as crabtalk's. The only exception is the comment that
// lists line breaks around a content, which crabtalk loses.
func TestDumpVectors(t *testing.T) {
	var v dumpVector
	readJSON(t, "book-dump.json", &v)
	fsys := vfs.NewMem()
	s := v.store(t)
	mustDump(t, s, fsys, "brain")
	got := files(t, fsys, "brain")
	delete(got, manifestFile)

	trailers := map[string]string{
		"notes/tagged.md": "  <!-- content: LF*2 before, LF*2 after -->\n",
		"notes/crlf.md":   "  <!-- content: CRLF after -->\n",
	}
	want := make(map[string]string)
	for p, text := range v.Tree {
		if !strings.HasPrefix(p, "topics/") {
			want[p] = strings.Replace(text, "</dl>\n", trailers[p]+"</dl>\n", 1)
		}
	}
	// crabtalk does not escape links, so that those with spaces and brackets are not links in Markdown
	want[summaryFile] = strings.NewReplacer(
		"(notes/B upper.md)", "(<notes/B upper.md>)",
		"(notes/emoji 🦀.md)", "(<notes/emoji 🦀.md>)",
		"[br[ack](et)](notes/br[ack](et).md)", `[br\[ack\](et)](<notes/br[ack](et).md>)`,
		"# Topics\n\n- [Auth](topics/Auth.md)\n\n", "",
	).Replace(v.Tree[summaryFile])
	// crabtalk allows mdbook to execute directives in texts.
	if want[mdBookSettingsFile] != oldBookSettings {
		t.Errorf("crabtalk's book.toml is %q, which a dump would not replace", want[mdBookSettingsFile])
	}
	want[mdBookSettingsFile] = newBookSettings
	if d := diffFiles(got, want); d != "" {
		t.Errorf("dump differs from crabtalk's:\n%s", d)
	}

	tree := mustRead(t, fsys, "brain")
	if got, want := describeAll(tree.Entries), describeAll(s.entries); !slices.Equal(got, want) {
		t.Errorf("Read after Dump =\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestReadCrabtalkTree checks that a tree that crabtalk wrote is read as crabtalk reads it, except that spaces are
// kept that crabtalk removes.
func TestReadCrabtalkTree(t *testing.T) {
	var v dumpVector
	readJSON(t, "book-dump.json", &v)
	fsys := vfs.NewMem()
	for p, text := range v.Tree {
		put(t, fsys, "brain/"+p, text)
	}
	tree := mustRead(t, fsys, "brain")
	if len(tree.Entries) != len(v.Reloaded) {
		t.Fatalf("Read gave %d entries, want %d", len(tree.Entries), len(v.Reloaded))
	}
	for i, want := range v.Reloaded {
		got := tree.Entries[i]
		kind, labels := want.Kind, ""
		if kind == "topic" {
			kind, labels = "note", "tag:topic"
		}
		if want.Name == "tagged" {
			want.Content = "  " + want.Content
			want.Aliases[4] = "  pad  "
		}
		gotLabels := ""
		for _, l := range got.Labels {
			gotLabels += l.String()
		}
		if got.Name != want.Name || got.Kind.String() != kind || got.Content != want.Content ||
			!slices.Equal(got.Aliases, want.Aliases) || gotLabels != labels || got.Created.Unix() != want.CreatedAt {
			t.Errorf("entry %d = %s, want %+v", i, describeEntry(&got), want)
		}
	}
	if len(tree.Warnings) != 1 || tree.Warnings[0].File != "topics" {
		t.Errorf("warnings = %v, want one about topics", tree.Warnings)
	}

	// The store accepts all entries, and a dump to the same tree keeps all of them. Topics become notes.
	s := storeOf(t)
	load(t, tree, s, nil)
	r := mustDump(t, s, fsys, "brain")
	if r.RemovedFileCount != 1 {
		t.Errorf("dump over a loaded crabtalk tree removed %d files, want topics/Auth.md only", r.RemovedFileCount)
	}
	again := mustRead(t, fsys, "brain")
	if p, err := again.PlanLoadIntoStore(t.Context(), s, &PlanOptions{Mode: ReplaceMode}); err != nil ||
		len(p.StoreOps) != 0 {
		t.Errorf("Plan after dump = %v ops, %v; want none", p.StoreOps, err)
	}
}

func TestLoadVectors(t *testing.T) {
	var vs []struct {
		Name  string
		File  string
		Entry vectorEntry
	}
	readJSON(t, "book-load.json", &vs)
	if len(vs) == 0 {
		t.Fatal("no vectors")
	}
	clock := time.Unix(1776162225, 0)
	for _, v := range vs {
		t.Run(v.Name, func(t *testing.T) {
			fsys := vfs.NewMem()
			put(t, fsys, "brain/notes/n.md", v.File)
			tree := mustRead(t, fsys, "brain")
			if len(tree.Entries) != 1 {
				t.Fatalf("Read gave %d entries, want 1", len(tree.Entries))
			}
			e := tree.Entries[0]
			if e.Created.IsZero() {
				e.Created = clock // what a store does when it adds the entry
			}
			if e.Name != v.Entry.Name || e.Content != v.Entry.Content ||
				!slices.Equal(e.Aliases, v.Entry.Aliases) || e.Created.Unix() != v.Entry.CreatedAt {
				t.Errorf("Read(%q) = %s, want %+v", v.File, describeEntry(&e), v.Entry)
			}
		})
	}
}
