// This file tests crashes of the machine. The machine crashes at any point of a change of both memory files, MEMORY.md
// and HISTORY.md, or of the first write of a new home.

package clawft

import (
	"context"
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestCrashAnywhere(t *testing.T) {
	start := vfs.NewMem()
	put(
		t,
		start,
		clawftMemoryDir+"/MEMORY.md",
		"one fact of four words\n\none fact of four words, and more\n\n"+facts(2),
	)
	put(t, start, clawftMemoryDir+"/HISTORY.md", "[2026-01-01] first\n")
	for _, tt := range []struct {
		name   string
		start  *vfs.Mem
		change func(ctx context.Context, h *Home) error
		images int // minimum number of crash images
	}{
		{"compress", start, func(ctx context.Context, h *Home) error {
			_, err := h.Compress(ctx, 30, false)
			return err
		}, 100},
		{"the first write", vfs.NewMem(), func(ctx context.Context, h *Home) error {
			_, err := h.AppendMemory(ctx, "x")
			return err
		}, 10},
		{"the first end", vfs.NewMem(), func(ctx context.Context, h *Home) error {
			s, err := h.Session(ctx, layout.Request{})
			return errors.Join(err, s.End(ctx, "x"))
		}, 10},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said := func(h *Home) string {
				memory, _, err := h.ReadMemory(t.Context())
				history, _, herr := h.ReadHistory(t.Context())
				if err := errors.Join(err, herr); err != nil {
					t.Fatal(err)
				}
				return memory + "\x00" + history
			}
			old := said(openHome(t, tt.start.Clone()))
			clean := openHome(t, tt.start.Clone())
			if err := tt.change(t.Context(), clean); err != nil {
				t.Fatal(err)
			}
			now := said(clean)
			images := 0
			sawOld := 0
			sawNow := 0
			for stop := 1; ; stop++ {
				disk := crashfs.New(tt.start)
				disk.StopAt(stop)
				o := options(disk.StartProcess())
				h, err := Open(t.Context(), o)
				if err == nil {
					err = tt.change(t.Context(), h)
				}
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
					t.Fatalf("stop at %d: %v", stop, err)
				}
				seen := 0
				for img, label := range disk.EachCrashFileSystem {
					images++
					// Each image is opened and written to; a few of each moment
					// are enough, since the tree has a test of its own.
					seen++
					if seen > 4 || (testing.Short() && stop%3 != 0) {
						continue
					}
					h, ierr := Open(t.Context(), options(img))
					if ierr != nil {
						t.Fatalf("stop at %d, %s: %v", stop, label, ierr)
					}
					// Whoever writes next finishes what was cut off.
					if werr := h.AppendHistory(t.Context(), "next"); werr != nil {
						t.Fatalf("stop at %d, %s: %v", stop, label, werr)
					}
					got := said(h)
					got = got[:len(got)-len("next\n\n")]
					for len(got) > len(old) && got[len(got)-1] == '\n' && got != now {
						got = got[:len(got)-1]
					}
					switch {
					case got == now:
						sawNow++
					case err != nil && got == old:
						sawOld++
					default:
						t.Fatalf("stop at %d, %s: %q, want %q or %q", stop, label, got, old, now)
					}
					rep, cerr := h.Tree.Check(t.Context())
					if cerr != nil || len(rep.Problems) != 0 {
						t.Fatalf("stop at %d, %s: Check() = %+v, %v", stop, label, rep.Problems, cerr)
					}
					_ = h.Close()
				}
				if err == nil {
					break
				}
			}
			if images < tt.images || sawOld == 0 || sawNow == 0 {
				t.Errorf("%d disks, %d as before, %d as after", images, sawOld, sawNow)
			}
		})
	}
}
