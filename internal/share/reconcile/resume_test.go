// This file interrupts pulls and pushes at each of their steps. The following pulls and pushes must have the same
// result as without the interruption.

package reconcile

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/crashfs"
)

type run func(context.Context, oxbow.Store, oxbow.Store, *State, *Options) (Report, error)

// starred is a function for the option Screen of a home, which may change ops before they are stored. It replaces the
// word "sesame" by "***", as the real function replaces secrets.
func starred(_ context.Context, _ oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
	for i, op := range ops {
		switch op := op.(type) {
		case oxbow.Add:
			op.Content = strings.ReplaceAll(op.Content, "sesame", "***")
			ops[i] = op
		case oxbow.Update:
			op.Content = strings.ReplaceAll(op.Content, "sesame", "***")
			ops[i] = op
		}
	}
	return ops, nil
}

// meet returns a home whose files are on the disk, and which has a server to synchronize with. If the parameter first
// is true, the home and the server have never been synchronized and have different entries. Otherwise they were
// synchronized, and have changed since in all combinations: on one side, on both sides, by renaming, and by deleting.
func meet(t *testing.T, disk *crashfs.Disk, first bool) *home {
	w := newWorld(t)
	h := &home{w: w, files: disk.StartProcess()}
	h.Memory = storetest.Open(t, "h", &oxbow.Options{FS: h.files, Screen: starred})
	there := func(ops ...oxbow.Op) {
		t.Helper()
		if err := w.server.Apply(t.Context(), ops...); err != nil {
			t.Fatal(err)
		}
	}
	moved := func(s oxbow.Store, from, to string) []oxbow.Op {
		e, err := s.Get(t.Context(), from)
		if err != nil {
			t.Fatal(err)
		}
		return []oxbow.Op{oxbow.Remove{Name: from}, oxbow.Add{Name: to, Content: e.Content, Created: e.Created}}
	}
	const text = "1/2/3/4/5/6/7"
	for i, name := range []string{"merged", "next to", "conflict", "gone there", "gone here", "renamed there",
		"renamed here", "theirs", "freed", "open"} {
		h.apply(note(name, fmt.Sprintf("%s/%d", text, i), "a"))
	}
	h.apply(note("ours", text, "a"))
	if first {
		there(
			note("conflict", "other"),
			note("ours", text, "a"),
			note("new there", "z"),
			note("open", "1/sesame"),
			note("Open", "x"),
		)
		return h
	}
	h.push()
	h.pull()
	h.apply(
		oxbow.Update{
			Name:    "merged",
			Content: "1h\n2\n3\n4\n5\n6\n7\n0",
			Aliases: []string{"here"},
			Labels:  note("", "", "a", "h").Labels,
		},
		update("next to", "1/2/3h/4/5/6/7/1"),
		update("conflict", "1/2/3/4h/5/6/7/2"),
		oxbow.Update{Name: "ours", Content: "1h\n2\n3\n4\n5\n6\n7", Labels: note("", "", "h").Labels},
		oxbow.Remove{Name: "gone here"},
		note("new here", "z"), note("both new", "of the home"), update("open", "1h/2/3/4/5/6/7/9"),
	)
	h.apply(moved(h, "renamed here", "renamed by the home")...)
	there(
		oxbow.Update{Name: "merged", Content: "1\n2\n3\n4\n5\n6\n7s\n0", Labels: note("", "", "s").Labels},
		update("next to", "1/2/3/4s/5/6/7/1"),
		update("conflict", "1/2/3/4s/5/6/7/2"),
		update("theirs", "1s/2/3/4/5/6/7/7"), oxbow.Remove{Name: "gone there"}, note("new there", "z"),
		note("both new", "of the server"), oxbow.Remove{Name: "freed"},
		update("renamed here", "1/2/3/4/5/6/7s/6"), update("open", "1/2/3/4/5/6/7/sesame"),
	)
	there(moved(w.server, "renamed there", "freed")...)
	return h
}

// kills specifies at which step a pull or push is interrupted.
type kills struct {
	at     int    // number of the disk operation or request, counted from 1 (0 for none)
	server string // "before" or "after" the server handles the request ("" for a disk operation)
}

// killed performs the run fn. If k.server is empty, the process is killed at the disk operation k.at, and killed
// reports whether this happened. Otherwise, all requests from number k.at on are interrupted before or after the server
// handles them, and killed reports whether fn failed.
func (h *home) killed(t *testing.T, disk *crashfs.Disk, fn run, k kills) bool {
	if k.server != "" {
		left := k.at - 1
		h.w.cutBy(func(*http.Request) (before, after bool) {
			left--
			return left < 0 && k.server == "before", left < 0 && k.server == "after"
		})
		_, err := h.run(fn, false)
		h.w.cutBy(nil)
		return err != nil
	}
	p := disk.StartProcess()
	m, err := oxbow.Open("h", &oxbow.Options{FS: p, Screen: starred})
	if err != nil {
		t.Fatal(err)
	}
	if k.at > 0 {
		disk.KillAt(p, disk.CountOps()+k.at)
	}
	other := &home{Memory: m, w: h.w, files: p, o: h.o}
	_, err = other.run(fn, false)
	_ = m.Close()
	if k.at == 0 && err != nil {
		t.Fatal(err)
	}
	return p.SyncDir(".") != nil
}

// edit changes the entries merged, ours and theirs, which a run may have pulled or pushed. It inserts a line after the
// line "4", and removes labels with the value "h". If the entry "new here" exists, edit removes this entry.
func (h *home) edit(t *testing.T) {
	for _, name := range []string{"merged", "ours", "theirs"} {
		e, err := h.Get(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		e.Labels = slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool { return l.Value == "h" })
		h.apply(oxbow.Update{
			Name:    name,
			Content: strings.Replace(e.Content, "4\n", "4\nedited\n", 1),
			Aliases: e.Aliases,
			Labels:  e.Labels,
		})
	}
	if _, err := h.Get(t.Context(), "new here"); err == nil {
		h.apply(oxbow.Remove{Name: "new here"})
	}
}

// TestKilled tests a pull or push that is ended at each of its disk operations and, in other cases, before or after
// each of its requests to the server. The same run is then repeated. Both sides must end with the same entries as
// without the interruption. In some cases, the home is edited between the two runs.
func TestKilled(t *testing.T) {
	for what, fn := range map[string]run{"pull": Pull, "push": Push} {
		for _, first := range []bool{false, true} {
			for _, edited := range []bool{false, true} {
				if first && edited {
					continue
				}
				end := func(t *testing.T, k kills) (string, bool) {
					disk := crashfs.New(nil)
					h := meet(t, disk, first)
					killed := h.killed(t, disk, fn, k)
					if edited {
						h.edit(t)
					}
					if rep := h.must(fn); k.at == 0 && !edited && len(rep.Changes) > 0 {
						t.Errorf("run again it did %s", names(rep))
					}
					settle(t, h.w, []*writer{{home: h}})
					if _, err := h.files.Stat("state.plan"); err == nil {
						t.Error("the file of the plan is still there")
					}
					same(t, "at the end", h.w.server, h)
					return fmt.Sprint(shown(t, h)), killed
				}
				want, _ := end(t, kills{})
				for _, server := range []string{"", "before", "after"} {
					n := 1
					for ; ; n++ {
						var got string
						var killed bool
						t.Run(
							fmt.Sprintf("%s first=%v edited=%v %s %d", what, first, edited, server, n),
							func(t *testing.T) {
								got, killed = end(t, kills{n, server})
								if got != want {
									t.Errorf("it ends with\n%s\nand not killed with\n%s", got, want)
								}
							},
						)
						if !killed {
							break
						}
					}
					if n < 3 {
						t.Errorf("%s %s: killed at %d steps, want several", what, server, n-1)
					}
				}
			}
		}
	}
}

// TestKilledThenUndone tests a pull that ends after it has changed the memory and before it has saved its state. The
// next pull finds that the work is done. If the pull is then reverted, the next push must not remove the reverted
// entries from the server.
func TestKilledThenUndone(t *testing.T) {
	disk := crashfs.New(nil)
	h := meet(t, disk, false)
	before, server := fmt.Sprint(shown(t, h)), fmt.Sprint(shown(t, h.w.server))
	if _, err := h.run(Pull, true); err != nil {
		t.Fatal(err)
	}
	after := fmt.Sprint(shown(t, h))
	if got := names(h.pull()); got != "" {
		t.Errorf("pulled again, it did %s", got)
	}
	_, last, err := lastOf(t, h.Memory)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Revert(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(shown(t, h)); got != before {
		t.Fatalf("taken back it is\n%s, want\n%s", got, before)
	}
	h.o.CheckMaySendEntry = func(*oxbow.Entry) error { return errors.New("stays") }
	if got := names(h.push()); strings.Contains(strings.ReplaceAll(got, "remove gone here", ""), "remove") {
		t.Errorf("a push did %s, on a server with %s", got, server)
	}
	h.o.CheckMaySendEntry = nil
	h.pull()
	if got := fmt.Sprint(shown(t, h)); got != after {
		t.Errorf("pulled once more it is\n%s, want\n%s", got, after)
	}
}

// TestLostPart tests a push of two parts, of which the second arrives, but its answer is lost. The next push must
// recognize the entries that the server already has. It must send only the changes that were made in the home after the
// first push.
func TestLostPart(t *testing.T) {
	w := newWorld(t)
	h := w.home("h")
	var ops []oxbow.Op
	for i := range maxPushOps + 5 {
		ops = append(ops, note(fmt.Sprintf("n%03d", i), "1/2", "h"))
	}
	h.apply(ops...)
	applies := 0
	w.cutBy(func(r *http.Request) (before, after bool) {
		if strings.HasSuffix(r.URL.Path, "/apply") {
			applies++
		}
		return false, applies > 1
	})
	rep, err := h.run(Push, false)
	if len(rep.Changes) != maxPushOps || !errors.Is(err, oxbow.ErrUnknownOutcome) {
		t.Fatalf("Push() = %d changes, %v, want %d and an unknown outcome", len(rep.Changes), err, maxPushOps)
	}
	w.cutBy(nil)
	h.apply(update("n501", "1b/2"), oxbow.Remove{Name: "n502"})
	if got := names(h.push()); got != "remove n502, update n501" {
		t.Errorf("pushed again, it did %s", got)
	}
	if got := names(h.pull()); got != "" {
		t.Errorf("a pull did %s", got)
	}
	same(t, "at the end", w.server, h)
}

// FuzzParsePlan tests that each step of a parsed plan refers to one of the given number of records, or contains a
// record.
func FuzzParsePlan(f *testing.F) {
	f.Add([]byte(`{"oxbow_plan":1,"salt":"AA==","sum":"47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="}`+"\n"), 0)
	f.Fuzz(func(t *testing.T, b []byte, records int) {
		sum := sha256.Sum256(b)
		head, err := json.Marshal(planHeader{FormatVersion: planVersion, DigestSalt: []byte("s"), Checksum: sum[:]})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{b, slices.Concat(head, []byte("\n"), b)} {
			_, p := parsePlan(b, records)
			if p == nil {
				continue
			}
			for _, st := range p.steps {
				if st.ReplacedSyncRecordNumber < 0 || st.ReplacedSyncRecordNumber > max(0, records) ||
					(st.ReplacedSyncRecordNumber == 0 && st.Record == nil) {
					t.Errorf("over %d records %q has the step %+v", records, b, st)
				}
			}
		}
	})
}
