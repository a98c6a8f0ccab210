// This file holds the campaign: every crash point of a script, and every disk
// that a crash there may leave.

// Package crash crashes the store at every operation, and looks at every disk
// that the crash may leave.
package crash

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/oxbow-memory/oxbow/internal/torture/rig"
	"github.com/oxbow-memory/oxbow/internal/torture/script"
	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/crashfs"
)

// Options of a campaign. Zero fields mean the default.
type Options struct {
	Setup rig.Setup // faults put in on purpose
	Procs int       // 1 or 2 processes; default 2
	Deep  int       // of so many images, one is crashed again while it recovers; default 2000, negative: none
	Plain bool      // no script has small free space or a silent lock file
}

// Tally is what a campaign has done.
type Tally struct {
	Scripts  int
	Points   int // operations at which the disk was stopped
	Images   int // disks looked at
	Distinct int // of them, different in names or bytes
	Deep     int // of the images, left by a second crash, during recovery
	Kills    int // operations at which one process was ended and another went on
}

// Add adds the numbers of u.
func (t *Tally) Add(u Tally) {
	t.Scripts += u.Scripts
	t.Points += u.Points
	t.Images += u.Images
	t.Distinct += u.Distinct
	t.Deep += u.Deep
	t.Kills += u.Kills
}

// Violation is a disk that is not as the contract has it.
type Violation struct {
	Seed  uint64
	Point int    // the operation of the crash, 0 for none
	Image string // what was lost
	Err   error
	Steps []script.Step
}

func (v *Violation) Error() string {
	s := fmt.Sprintf("seed %d", v.Seed)
	if v.Point > 0 {
		s += fmt.Sprintf(", crash at operation %d", v.Point)
	}
	if v.Image != "" {
		s += ", image: " + v.Image
	}
	return s + ": " + v.Err.Error()
}

// Unwrap returns what was wrong.
func (v *Violation) Unwrap() error { return v.Err }

// run is one script under examination.
type run struct {
	o      Options
	s      script.Script
	setup  rig.Setup
	tally  Tally
	images map[uint64]*script.State // those seen, and the state they were in
	deep   map[uint64]bool          // those seen after a second crash
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seed examines the script of that seed, up to the first violation, which it
// returns, nil for none. One seed in four is a script for the log alone, whose
// appends hold several records.
func Seed(seed uint64, o Options) (Tally, *Violation) {
	if o.Procs == 0 {
		o.Procs = 2
	}
	if o.Deep == 0 {
		o.Deep = 2000
	}
	if seed%4 == 2 {
		return logSeed(seed, o)
	}
	return Script(script.New(seed, o.Procs), o)
}

// Script examines a script.
func Script(s script.Script, o Options) (Tally, *Violation) {
	r := &run{o: o, s: s, setup: setupFor(s.Seed, o), images: map[uint64]*script.State{}, deep: map[uint64]bool{}}
	r.tally.Scripts = 1
	v := r.all()
	r.tally.Distinct = len(r.images)
	for h := range r.deep {
		if r.images[h] == nil {
			r.tally.Distinct++
		}
	}
	if v != nil {
		v.Seed, v.Steps = s.Seed, s.Steps
	}
	return r.tally, v
}

// setupFor makes the images of most scripts small, so that many can be tried.
func setupFor(seed uint64, o Options) rig.Setup {
	setup := o.Setup
	if !o.Plain {
		setup.Small = seed%8 != 7
		setup.NoNote = seed%8 < 5
	}
	return setup
}

func (r *run) all() *Violation {
	dry := script.NewWorld(r.s, r.setup)
	dry.Record = true
	if err := dry.Run(); err != nil {
		return &Violation{Err: err}
	}
	last := dry.Disk.Ops()
	for k := 1; k <= last+1; k++ {
		w := script.NewWorld(r.s, r.setup)
		w.Disk.StopAt(k)
		if err := w.Run(); err != nil {
			return &Violation{Point: k, Err: err}
		}
		w.Disk.Stop()
		r.tally.Points++
		if v := r.point(w, dry.States, k); v != nil {
			v.Point = k
			return v
		}
		if r.s.Procs > 1 && k <= last && !inside(dry.InIn, k) {
			if err := r.kill(dry, k); err != nil {
				return &Violation{Point: k, Image: "only process ended", Err: err}
			}
		}
	}
	return nil
}

func inside(spans []int, k int) bool {
	for i := 0; i+1 < len(spans); i += 2 {
		if k >= spans[i] && k <= spans[i+1] {
			return true
		}
	}
	return false
}

// point looks at all images of a disk that has stopped.
func (r *run) point(w *script.World, states []*script.State, k int) *Violation {
	allowed := script.Allowed(states, w.Acked)
	var bad *Violation
	w.Disk.Images(func(img *vfs.Mem, label string) bool {
		r.tally.Images++
		h, choice := Hash(img)
		if st := r.images[h]; st != nil {
			// It was found to be sound before. But that state may be too
			// old by now.
			if !slices.ContainsFunc(allowed, func(a *script.State) bool { return a.Model == st.Model }) {
				bad = &Violation{Image: label, Err: fmt.Errorf("the store is back at change %d", st.Model.Seq())}
			}
			return bad == nil
		}
		var deep *vfs.Mem
		if r.o.Deep > 0 && choice%r.rarity(label) == 0 {
			deep = img.Clone()
		}
		st, err := script.Verdict(rig.New(img, r.setup), allowed, r.s.Seed, choice&1 == 0)
		if err != nil {
			bad = &Violation{Image: label, Err: err}
			return false
		}
		r.images[h] = st
		if deep != nil {
			if err := r.again(deep, allowed, r.inFlight(w.Acked, choice)); err != nil {
				bad = &Violation{Image: label, Err: err}
				return false
			}
		}
		return true
	})
	return bad
}

// rarity returns of how many such images one is crashed again. A record that
// lacks only its beginning is what could come back to life, so such are taken
// more often.
func (r *run) rarity(label string) uint64 {
	n := uint64(r.o.Deep)
	if strings.Contains(label, "all but the first ") && !strings.Contains(label, ".lock") {
		n = max(1, n/100)
	}
	return n
}

// kill ends the process that does operation k and lets the other go on. A write
// is done in full the first time, by half the second.
func (r *run) kill(dry *script.World, k int) error {
	op := dry.Disk.Log()[k-1]
	for _, half := range []bool{false, true} {
		if half && op.Kind != crashfs.Write {
			break
		}
		w := script.NewWorld(r.s, r.setup)
		w.KillAt(op.Proc-1, k)
		if half {
			w.Disk.Inject(crashfs.Fault{At: k, Kinds: crashfs.Write, Short: op.Len / 2, Err: syscall.EIO})
		}
		if err := w.Run(); err != nil {
			return err
		}
		r.tally.Kills++
		if err := w.Survive(2-op.Proc, script.Allowed(dry.States, w.Acked)); err != nil {
			return err
		}
	}
	return nil
}

// Hash returns a number for the names and bytes of an image: the CRC-32C and the
// CRC-32 of all of it, one behind the other. The other number is the same but
// for lock files. They name the process that runs the campaign, so that this
// one alone may decide what is done with an image: it is the same in every run.
func Hash(img *vfs.Mem) (all, choice uint64) {
	var c, d uint32
	add := func(b []byte) {
		c = crc32.Update(c, castagnoli, b)
		d = crc32.Update(d, crc32.IEEETable, b)
	}
	var locks []byte
	var walk func(dir string)
	walk = func(dir string) {
		// An image's own directories can always be read.
		es, _ := img.ReadDir(dir)
		for _, e := range es {
			name := path.Join(dir, e.Name())
			add([]byte(name + "\x00"))
			if e.IsDir() {
				walk(name)
				continue
			}
			b, _ := vfs.ReadFile(img, name, -1)
			if strings.HasSuffix(name, ".lock") {
				locks = append(locks, b...)
				continue
			}
			add(b)
			add(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
		}
	}
	walk(".")
	choice = uint64(c)<<32 | uint64(d)
	add(locks)
	return uint64(c)<<32 | uint64(d), choice
}

// disk returns a disk that holds the image.
func disk(img *vfs.Mem) *crashfs.Disk { return crashfs.New(img) }
