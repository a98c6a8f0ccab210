// This file tests how the state of files is recorded and checked.

package verb

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/vfs"
)

// inTree sets the workspace's working tree, which contains these files and has no git, and returns the tree's file
// system. The tree belongs to the project.
func (b *bench) inTree(project string, files ...string) *vfs.Mem {
	b.t.Helper()
	m := vfs.NewMem()
	if err := m.MkdirAll(annotate.DefaultDir, 0o755); err != nil {
		b.t.Fatal(err)
	}
	for _, f := range files {
		b.write(m, f, "content of "+f+"\n")
	}
	book, err := annotate.Open(m, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	b.Annotations = func(context.Context) (WorkingTree, error) { return book, nil }
	b.Project = func() string { return project }
	return m
}

func (b *bench) write(m *vfs.Mem, name, text string) {
	b.t.Helper()
	if err := vfs.WriteFile(m, name, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// states returns the state of each file to which a hit refers.
func states(cs []FileRef) string {
	var ws []string
	for _, c := range cs {
		ws = append(ws, c.File+" "+c.State)
	}
	return strings.Join(ws, ", ")
}

func TestCitations(t *testing.T) {
	b := newBench(t)
	tree := b.inTree("pond", "a.go", "b.go")
	do[RememberOut](
		b,
		"remember",
		`{"name":"retries","content":"The proxy retries what it retries.","related_files":["a.go"]}`,
	)
	do[RememberOut](
		b,
		"remember",
		`{"name":"timeouts","content":"The proxy waits a minute.","related_files":["b.go"],"project":"Pond"}`,
	)
	do[RememberOut](
		b,
		"remember",
		`{"name":"elsewhere","content":"The proxy of the lake.","related_files":["b.go","none.go"],"project":"lake"}`,
	)
	do[RememberOut](b, "remember", `{"name":"free","content":"A proxy cites nothing."}`)

	check := func(name, want string) {
		t.Helper()
		got := do[GetOut](b, "get", `{"name":"`+name+`"}`)
		if s := states(got.Citations); s != want {
			t.Errorf("%s cites %q, want %q", name, s, want)
		}
	}
	check("retries", "a.go FRESH")
	check("timeouts", "b.go FRESH")
	check("elsewhere", "b.go UNVERIFIABLE, none.go UNVERIFIABLE") // the entry belongs to another project
	check("free", "")
	blobs := func(name string) []string {
		return do[GetOut](b, "get", `{"name":"`+name+`"}`).Labels[oxbow.LabelFileBlob]
	}
	if got := blobs("retries"); len(got) != 1 || !strings.HasSuffix(got[0], " a.go") || len(got[0]) != 40+5 {
		t.Errorf("what a.go was like is noted as %q", got)
	}
	if got := blobs("elsewhere"); got != nil {
		t.Errorf("a file of another project is noted as %q", got)
	}
	got := do[GetOut](b, "get", `{"name":"retries"}`)
	if text := prompt.ReporterText(got); strings.Contains(text, oxbow.LabelFileBlob) ||
		!strings.Contains(text, `cites "a.go": FRESH (the file is as it was)`) {
		t.Errorf("get says %s", text)
	}

	// After the file was changed, the hit comes later but has the same score.
	first := do[RecallOut](b, "recall", `{"query":"proxy retries minute"}`)
	if first.Hits[0].Name != "retries" || len(first.Hits) != 4 {
		t.Fatalf("recall = %+v", first.Hits)
	}
	b.write(tree, "a.go", "all new\n")
	check("retries", "a.go STALE")
	after := do[RecallOut](b, "recall", `{"query":"proxy retries minute","explain":true}`)
	if len(after.Hits) != 4 || after.Hits[0].Name != "timeouts" || after.Hits[1].Name != "retries" ||
		after.Hits[1].Score != first.Hits[0].Score {
		t.Errorf("with a stale file the hits are %v", prompt.ReporterText(after))
	}
	if !has(after.Notes, "stale stand lower") || !strings.Contains(prompt.ReporterText(after), `cites "a.go": STALE`) {
		t.Errorf("recall says %s", prompt.ReporterText(after))
	}
	// An old version is not compared with the present files.
	if past := do[RecallOut](b, "recall", `{"query":"proxy retries","as_of":"4"}`); past.Hits[0].Citations != nil ||
		past.Hits[0].Name != "retries" {
		t.Errorf("recall as of then = %s", prompt.ReporterText(past))
	}

	// Remembering the entry again records the file's present state.
	if out := do[RememberOut](
		b,
		"remember",
		`{"name":"retries","content":"The proxy retries what it retries."}`,
	); out.EntryOutcome != "updated" {
		t.Errorf("said again it is %s", out.EntryOutcome)
	}
	check("retries", "a.go FRESH")
	if out := do[RememberOut](
		b,
		"remember",
		`{"name":"retries","content":"The proxy retries what it retries."}`,
	); out.EntryOutcome != "unchanged" {
		t.Errorf("said once more it is %s", out.EntryOutcome)
	}
	do[RememberOut](
		b,
		"remember",
		`{"name":"retries","content":"The proxy retries what it retries.","clear":["related_files"]}`,
	)
	check("retries", "")
	if got := blobs("retries"); got != nil {
		t.Errorf("without related files there is %q", got)
	}

	// Outside the tree, the recorded hashes are kept and nothing is checked.
	noted := blobs("timeouts")
	b.Annotations = nil
	do[RememberOut](b, "remember", `{"name":"timeouts","content":"The proxy waits two minutes."}`)
	if got := blobs("timeouts"); len(got) != 1 || got[0] != noted[0] {
		t.Errorf("from outside of the tree it says %q, want %q", got, noted)
	}
	check("timeouts", "")
}

// TestCitationsCostNothing checks that the tree is not opened if there is no file to check.
func TestCitationsCostNothing(t *testing.T) {
	b := newBench(t)
	b.Annotations = func(context.Context) (WorkingTree, error) {
		t.Error("the tree was opened")
		return nil, errors.New("no")
	}
	do[RememberOut](b, "remember", `{"name":"a","content":"one two"}`)
	do[RecallOut](b, "recall", `{"query":"two"}`)
	do[GetOut](b, "get", `{"name":"a"}`)
}

// TestCitationsOutsideOfATree checks that a directory without git and annotations does not count as a working tree.
func TestCitationsOutsideOfATree(t *testing.T) {
	b := newBench(t)
	m := vfs.NewMem()
	b.write(m, "a.go", "x\n")
	book, err := annotate.Open(m, nil)
	if err != nil {
		t.Fatal(err)
	}
	b.Annotations = func(context.Context) (WorkingTree, error) { return book, nil }
	do[RememberOut](b, "remember", `{"name":"a","content":"one two","related_files":["a.go"]}`)
	if out := do[RecallOut](b, "recall", `{"query":"two"}`); out.Hits[0].Citations != nil ||
		len(out.Hits[0].Labels) != 1 {
		t.Errorf("recall = %s", prompt.ReporterText(out))
	}
	// If the tree cannot be opened, remember and recall must work nevertheless.
	b.Annotations = func(context.Context) (WorkingTree, error) { return nil, errors.New("it is locked") }
	do[RememberOut](b, "remember", `{"name":"b","content":"one two","related_files":["a.go"]}`)
	if out := do[RecallOut](b, "recall", `{"query":"two"}`); len(out.Hits) != 2 || !has(out.Notes, "it is locked") {
		t.Errorf("recall = %s", prompt.ReporterText(out))
	}
}

// TestManyCitations checks that the answer says how many files were not checked because of the limit.
func TestManyCitations(t *testing.T) {
	b := newBench(t)
	b.inTree("", "f")
	for i := range 3 {
		var files []string
		for j := range 90 {
			files = append(files, fmt.Sprintf("f%d-%d", i, j))
		}
		do[RememberOut](
			b,
			"remember",
			args(t, map[string]any{"name": fmt.Sprint("n", i), "content": "one two", "related_files": files}),
		)
	}
	out := do[RecallOut](b, "recall", `{"query":"two","max_tokens":100000}`)
	if len(out.Hits) != 3 || !has(out.Notes, "70 more related files are not checked") {
		t.Errorf("recall notes %q", out.Notes)
	}
}

// narrowStore is a store that accepts only the labels that people write.
type narrowStore struct{ oxbow.Store }

func (s narrowStore) Apply(ctx context.Context, ops ...oxbow.Op) error {
	for _, op := range ops {
		if a, ok := op.(oxbow.Add); ok && len(fileHashes(a.Labels)) > 0 {
			return fmt.Errorf("%w: this store does not hold %v", oxbow.ErrUnsupported, a.Labels)
		}
	}
	return s.Store.Apply(ctx, ops...)
}

func TestStoreWithoutBlobs(t *testing.T) {
	b := newBench(t)
	b.inTree("", "a.go")
	m := oxbow.New(narrowStore{b.m.Store()}, nil)
	b.Open = func(context.Context, MemoryAccess) (*oxbow.Memory, error) { return m, nil }
	if out := do[RememberOut](
		b,
		"remember",
		`{"name":"a","content":"one two","related_files":["a.go"]}`,
	); out.EntryOutcome != "added" || out.Labels[oxbow.LabelFileBlob] != nil {
		t.Errorf("remember = %s", prompt.ReporterText(out))
	}
	if out := do[RecallOut](b, "recall", `{"query":"two"}`); states(out.Hits[0].Citations) != "a.go UNVERIFIABLE" {
		t.Errorf("recall = %s", prompt.ReporterText(out))
	}
}
