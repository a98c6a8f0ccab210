// Check and verify: what a memory's file says, compared with what it answers.

package tool

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/session/inbox"
	"github.com/oxbow-memory/oxbow/vfs"
)

// CheckIn is what check takes.
type CheckIn struct {
	Since string `json:"since,omitempty" value:"HEAD" usage:"Prove that changes were only added since this HEAD, which check, backup or stats printed."`
	Sign  bool   `json:"sign,omitempty" usage:"Sign the head of the memory, where it is sound, with the key of its home."`
}

// CheckOut is what a check found.
type CheckOut struct {
	OK       bool       `json:"ok"`
	Store    string     `json:"store"`
	Missing  bool       `json:"missing,omitempty"` // there is no such file
	Records  int        `json:"records"`
	Entries  int        `json:"entries"`
	Bytes    int64      `json:"bytes"`
	First    uint64     `json:"first_change"`
	Last     uint64     `json:"last_change"`
	Head     string     `json:"head,omitempty"`
	Problems []Problem  `json:"problems"`
	SetAside []TornTail `json:"set_aside,omitempty"`
	Notes    []string   `json:"notes,omitempty"` // what is no damage, such as an alias of two entries

	Annotations *AnnotationsCheck `json:"annotations,omitempty"` // of the working tree, where there are any
	Sessions    *SessionsCheck    `json:"sessions,omitempty"`    // the archive, where there is one
	Heads       *HeadsCheck       `json:"signed_heads,omitempty"`
	Since       *NotedHead        `json:"since,omitempty"` // the head that was asked for

	durable uint64 // last change that was once durable, as far as known
	lost    uint64 // highest change that is known to be damaged
}

// Failed reports whether there is a problem.
func (o CheckOut) Failed() bool { return !o.OK }

// TornTail is the tail of an interrupted write that was kept when it was cut off.
type TornTail struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// AnnotationsCheck is what a check found in the sidecars of a working tree.
type AnnotationsCheck struct {
	Files       int           `json:"files"`
	Annotations int           `json:"annotations"`
	Lines       int           `json:"lines"`
	Torn        int           `json:"torn,omitempty"`
	Newer       int           `json:"newer,omitempty"`
	Problems    []LineProblem `json:"problems"`
}

// LineProblem is a line of a sidecar that is not sound.
type LineProblem struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Offset int64  `json:"offset"`
	What   string `json:"what"`
}

// At says where the problem is, as compilers do.
func (p LineProblem) At() string {
	if p.Line == 0 {
		return p.File + ":"
	}
	return fmt.Sprintf("%s:%d:", p.File, p.Line)
}

// Check reads the whole memory, the annotations of the working tree, and the archive
// of sessions.
func Check(ctx context.Context, w *Workspace, in CheckIn) (CheckOut, error) {
	if err := checkHead("--since", in.Since); err != nil {
		return CheckOut{}, err
	}
	out, err := checkProof(ctx, w, in)
	if err != nil {
		return out, err
	}
	if out.OK {
		err = out.noteAliases(ctx, w)
	}
	if out.Problems == nil {
		out.Problems = []Problem{}
	}
	if err == nil {
		out.Annotations, err = checkAnnotations(ctx, w)
	}
	if err == nil {
		out.Sessions, err = checkSessions(ctx, w)
	}
	if err := cmp.Or(err, out.nothing(in)); err != nil {
		return out, err
	}
	out.OK = out.OK && (out.Annotations == nil || len(out.Annotations.Problems) == 0) && (out.Sessions == nil || len(out.Sessions.Problems) == 0)
	return out, nil
}

// nothing returns the error of a check that had nothing to examine.
func (o *CheckOut) nothing(in CheckIn) error {
	if o.Missing && o.OK && (in.Since != "" || in.Sign || o.Annotations == nil && o.Sessions == nil) {
		return NoMemory(filepath.Dir(o.Store))
	}
	return nil
}

// noteAliases notes the words that mean two entries.
func (o *CheckOut) noteAliases(ctx context.Context, w *Workspace) error {
	if o.Missing {
		return nil
	}
	ctx, m, err := w.Memory(ctx, Own)
	if err != nil {
		return err
	}
	named := wordOwners{}
	for e, err := range m.Entries(ctx, oxbow.Filter{}) {
		if err != nil {
			return err
		}
		for _, clash := range named.add(e) {
			if len(o.Notes) < maxFindings {
				o.Notes = append(o.Notes, clash+"; "+mendAliases)
			}
		}
	}
	return nil
}

// checkAnnotations examines the sidecars of the working tree, and returns nil
// where there are none.
func checkAnnotations(ctx context.Context, w *Workspace) (*AnnotationsCheck, error) {
	if w.Annotations == nil {
		return nil, nil
	}
	s, err := w.Annotations(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.Check(ctx)
	if err != nil || r.Files == 0 && len(r.Problems) == 0 {
		return nil, err
	}
	out := &AnnotationsCheck{Files: r.Files, Annotations: r.Annotations, Lines: r.Lines, Torn: r.Torn, Newer: r.Newer, Problems: []LineProblem{}}
	for _, p := range r.Problems {
		out.Problems = append(out.Problems, LineProblem(p))
	}
	return out, nil
}

// examine checks the store. A damaged one is no error.
func examine(ctx context.Context, w *Workspace) (CheckOut, error) {
	p, err := w.place()
	if err != nil {
		return CheckOut{}, err
	}
	out := CheckOut{Store: p.Store, Problems: []Problem{}}
	if out.lookForFile(p); out.Missing {
		return out, nil
	}
	// A file too damaged to open is the very thing a check is for.
	var damage *oxbow.CorruptError
	if err := out.read(ctx, w, p); errors.As(err, &damage) {
		out.damaged(damage)
	} else if err != nil {
		return out, err
	}
	out.OK = len(out.Problems) == 0
	if !p.Own() {
		return out, nil
	}
	stale, err := staleFiles(p.Store)
	for _, f := range stale {
		if f.kind == staleTorn {
			out.SetAside = append(out.SetAside, TornTail{f.path, f.size})
		}
	}
	return out, err
}

// lookForFile says whether the file of the store is missing. It is sound not to have
// one yet, but not to have lost it.
func (o *CheckOut) lookForFile(p Place) {
	if _, err := os.Stat(p.Store); !p.Own() || !errors.Is(err, fs.ErrNotExist) {
		return
	}
	o.Missing, o.OK = true, true
	dir, err := vfs.Dir(filepath.Dir(p.Store))
	if err != nil {
		return
	}
	defer dir.Close()
	if was, ok := wal.ReadLockMeta(dir, filepath.Base(p.Store)); ok && was.Durable > 0 {
		o.OK, o.durable = false, was.Durable
		o.Problems = append(o.Problems, Problem{-1, fmt.Sprintf("the file is gone, and change %d had been written to it", was.Durable),
			"put it or a backup back; the next remember begins a memory without what was in it"})
	}
}

// read opens the store and reads it.
func (o *CheckOut) read(ctx context.Context, w *Workspace, p Place) error {
	ctx, m, err := w.Memory(ctx, Own)
	if err != nil {
		return err
	}
	if _, serr := os.Stat(p.Store); p.Own() && serr == nil {
		// Before the last change is known, which others may move on.
		if o.durable, err = durableOf(p.Store, p.Store); err != nil {
			return err
		}
	}
	r, err := m.Check(ctx)
	if err != nil {
		return fmt.Errorf("checking: %w", err)
	}
	o.Records, o.Entries, o.Bytes, o.First, o.Last, o.Head = r.Records, r.Entries, r.Bytes, r.First, r.Last, r.Head
	o.Problems = append(o.Problems, problemsOf(r)...)
	if o.durable > o.Last {
		o.Problems = append(o.Problems, Problem{-1, fmt.Sprintf(wentBack, o.Last, o.durable), w.say(Remedy(oxbow.ErrRolledBack))})
	}
	return nil
}

// damaged adds the damage that keeps the store from opening.
func (o *CheckOut) damaged(c *oxbow.CorruptError) {
	what := c.Reason
	switch n := len(c.Lost); {
	case n == 1:
		what = fmt.Sprintf("%s (change %d)", c.Reason, c.Lost[0])
	case n > 1:
		what = fmt.Sprintf("%s (changes %d to %d)", c.Reason, c.Lost[0], c.Lost[n-1])
	}
	for _, seq := range c.Lost {
		o.lost = max(o.lost, seq)
	}
	o.Problems = append(o.Problems, Problem{c.Offset, what,
		"nothing was changed; oxbow recover saves what can be read into a new file, or put a backup in the place of this one"})
	if fi, err := os.Stat(o.Store); err == nil {
		o.Bytes = fi.Size()
	}
}

// VerifyIn is what verify takes.
type VerifyIn struct {
	Head string `json:"head,omitempty" jsonschema:"The hash of a change noted earlier."`
}

// VerifyOut is what was proved.
type VerifyOut struct {
	CheckOut
	Noted *NotedHead `json:"noted,omitempty"`
}

// Failed reports whether the proof failed.
func (o VerifyOut) Failed() bool { return !o.OK || o.Noted != nil && !o.Noted.Found }

// NotedHead says which change has the hash that was noted earlier.
type NotedHead struct {
	Head  string `json:"head"`
	Found bool   `json:"found"`
	Seq   uint64 `json:"seq"`            // the change; that before the first one where the log itself begins with the hash
	Time  string `json:"time,omitempty"` // of the change, RFC 3339
}

// Verify proves that the changes were not edited, up to the one with a hash that
// was noted earlier.
func Verify(ctx context.Context, w *Workspace, in VerifyIn) (VerifyOut, error) {
	if err := checkHead("--head", in.Head); err != nil {
		return VerifyOut{}, err
	}
	var out VerifyOut
	var err error
	if out.CheckOut, err = examine(ctx, w); err == nil && in.Head != "" && out.OK {
		out.Noted, err = findHead(ctx, w, out.Store, in.Head)
	}
	return out, err
}

// checkHead refuses what is no head, in that flag.
func checkHead(flag, head string) error {
	if _, err := hex.DecodeString(head); head != "" && (err != nil || len(head) != 64) {
		return Advise(invalidf("%s %q is not a hash of 64 hexadecimal digits", flag, head), "oxbow check and oxbow log --verify print it")
	}
	return nil
}

// checkProof examines the store, and compares it with the heads that were signed
// and with the one that was noted.
func checkProof(ctx context.Context, w *Workspace, in CheckIn) (CheckOut, error) {
	p, err := w.place()
	if err != nil {
		return CheckOut{}, err
	}
	var heads *HeadsCheck
	var wrong []Problem
	if p.Own() && p.Home != p.Store { // before the last change is known, which others may move on
		if heads, wrong, err = signedHeads(p.Store, in.Sign); err != nil {
			return CheckOut{}, err
		}
	}
	out, err := examine(ctx, w)
	if err != nil || !out.OK || out.Missing {
		return out, err
	}
	if err := out.prove(ctx, w, heads, in.Since); err != nil {
		return out, err
	}
	out.Problems = append(wrong, out.Problems...)
	if out.OK = len(out.Problems) == 0; !out.OK || !in.Sign {
		return out, nil
	}
	if err := w.signNow(p.Store, out.Last, out.Head); err != nil {
		return out, err
	}
	if heads, _, err = signedHeads(p.Store, false); err != nil {
		return out, err
	}
	return out, out.prove(ctx, w, heads, "")
}

// prove compares the log of a sound memory with what was signed, nil for nothing,
// and with the head that was noted, "" for none.
func (o *CheckOut) prove(ctx context.Context, w *Workspace, heads *HeadsCheck, noted string) error {
	if o.Heads = heads; heads != nil {
		wrong, err := compareHeads(ctx, w, heads, *o)
		if err != nil {
			return err
		}
		o.Problems = append(o.Problems, wrong...)
	}
	if noted == "" {
		return nil
	}
	var err error
	if o.Since, err = findHead(ctx, w, o.Store, noted); err == nil && !o.Since.Found {
		o.Problems = append(o.Problems, heads.without(noted, o.First))
	}
	return err
}

// compareHeads compares the signed heads with the log of a sound memory.
func compareHeads(ctx context.Context, w *Workspace, heads *HeadsCheck, out CheckOut) ([]Problem, error) {
	h, err := headerOf(out.Store)
	if err != nil {
		return nil, err
	}
	return heads.compare(ctx, w, out.Store, h, out.Last)
}

// findHead looks for the change with that hash.
func findHead(ctx context.Context, w *Workspace, store, head string) (*NotedHead, error) {
	ctx, m, err := w.Memory(ctx, Own)
	if err != nil {
		return nil, err
	}
	out := &NotedHead{Head: head}
	for c, err := range m.Log(ctx) {
		if err != nil {
			return out, fmt.Errorf("reading the log: %w", err)
		}
		if c.Hash == head {
			out.Found, out.Seq, out.Time = true, c.Seq, stamp(c.Time)
			return out, nil
		}
	}
	// The hash may be that of the change before the first one, with which the
	// chain begins.
	h, err := headerOf(store)
	if err == nil && hex.EncodeToString(h.Chain[:]) == head {
		out.Found, out.Seq = true, h.Base
	}
	return out, err
}

// headerOf reads the header of a store. A missing one has the zero header.
func headerOf(store string) (h wal.Header, err error) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return h, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	log, err := wal.Open(dir, filepath.Base(store), wal.Options{ReadOnly: true})
	if err != nil {
		return h, fmt.Errorf("reading the header of %s: %w", store, err)
	}
	return log.Header(), log.Close()
}

// durableOf returns the number of the last change that was known to be durable
// in the store of that path, 0 when nothing is noted. What is noted of another
// store than that in the file same does not count.
func durableOf(store, same string) (seq uint64, err error) {
	dir, err := vfs.Dir(filepath.Dir(store))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	n, ok := wal.ReadLockMeta(dir, filepath.Base(store))
	if !ok || n.Durable == 0 {
		return 0, nil
	}
	h, err := headerOf(same)
	if err != nil || n.ID != hex.EncodeToString(h.ID[:]) {
		return 0, err
	}
	return n.Durable, nil
}

const wentBack = "it went back: it ends at change %d, and change %d had been written"

// WentBack says that the store in that file lacks changes that had been durable,
// and what to do; it is no sentence where the store has all of them.
func WentBack(ctx context.Context, m *oxbow.Memory, file string) Note {
	// Before the last change is known, which other processes may move on.
	had, err := durableOf(file, file)
	if err != nil || had == 0 {
		return Note{}
	}
	if s, err := statsOf(ctx, m); err == nil && had > s.Last {
		return joined([]Note{Notef("the memory may lack what was remembered: "+wentBack, s.Last, had), Remedy(oxbow.ErrRolledBack)})
	}
	return Note{}
}

// checkFile examines the store in a file, without changing anything.
func checkFile(ctx context.Context, w *Workspace, file string, also ...func(*oxbow.Memory) error) (r oxbow.CheckReport, err error) {
	m, err := oxbow.Open(file, &oxbow.Options{Clock: w.now, Rand: w.Host.Rand, ReadOnly: true})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	r, err = m.Check(ctx)
	for _, look := range also {
		err = cmp.Or(err, look(m))
	}
	return r, err
}

// archiveFile returns the path of the archive of sessions, "" where there is none.
func (w *Workspace) archiveFile() (string, error) {
	if w.Place == nil {
		return "", nil
	}
	p, err := w.place()
	if err != nil || !p.Own() || p.Home == p.Store {
		return "", err
	}
	file := filepath.Join(p.Dir(), session.StoreFile)
	if _, err := os.Stat(file); err != nil {
		return "", nil
	}
	return file, nil
}

// SessionsCheck is what a check found in the archive of sessions.
type SessionsCheck struct {
	Store    string    `json:"store"`
	Entries  int       `json:"entries"`
	Bytes    int64     `json:"bytes"`
	Problems []Problem `json:"problems"`
	Waiting  int       `json:"waiting,omitempty"` // proposals of the inbox
}

// MendSessions says what to do about an archive of sessions that is damaged.
func MendSessions(file string) string {
	return "oxbow --home " + text.ShellQuote(file) + " recover --replace saves what can be read; or move the file away, and oxbow session import reads what the clients still have"
}

// checkSessions checks the archive of sessions, nil where there is none.
func checkSessions(ctx context.Context, w *Workspace) (*SessionsCheck, error) {
	file, err := w.archiveFile()
	if err != nil || file == "" {
		return nil, err
	}
	out := &SessionsCheck{Store: file, Problems: []Problem{}}
	r, err := checkFile(ctx, w, file, func(m *oxbow.Memory) (err error) {
		out.Waiting, err = inbox.Waiting(ctx, m)
		return err
	})
	var damage *oxbow.CorruptError
	switch {
	case errors.As(err, &damage):
		out.Problems = append(out.Problems, Problem{Offset: damage.Offset, What: damage.Reason, Mend: MendSessions(file)})
		return out, nil
	case errors.Is(err, oxbow.ErrNotStore):
		out.Problems = append(out.Problems, Problem{What: oxbow.ErrNotStore.Error(), Mend: MendSessions(file)})
		return out, nil
	}
	out.Entries, out.Bytes, out.Problems = r.Entries, r.Bytes, append(out.Problems, problemsOf(r)...)
	return out, err
}

// mendAliases returns how an alias comes to mean one entry again.
const mendAliases = "oxbow remember NAME --alias … or --clear aliases gives one of them others"

// wordOwners has the entry that each name and alias means.
type wordOwners map[string]string

// add adds an entry, and returns which of its words another entry has.
func (o wordOwners) add(e oxbow.Entry) (clashes []string) {
	for _, w := range append([]string{e.Name}, e.Aliases...) {
		if other, ok := o[w]; ok {
			clashes = append(clashes, fmt.Sprintf("%q is a name or alias of %q and of %q", w, other, e.Name))
		} else {
			o[w] = e.Name
		}
	}
	return clashes
}

// maxFindings is the most lines that doctor names.
const maxFindings = 5
