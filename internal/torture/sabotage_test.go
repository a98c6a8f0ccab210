// This file breaks the store on purpose, one promise at a time, and sees that
// a campaign notices. A campaign that cannot fail proves nothing.

package main

import (
	"testing"

	"github.com/oxbow-memory/oxbow/internal/torture/crash"
	"github.com/oxbow-memory/oxbow/internal/torture/flip"
	"github.com/oxbow-memory/oxbow/internal/torture/ioerr"
	"github.com/oxbow-memory/oxbow/internal/torture/rig"
	"github.com/oxbow-memory/oxbow/internal/wal"
)

// The campaigns by their names, each run on seeds up to the first violation or
// for so many seeds.
var hunts = map[string]func(setup rig.Setup) error{
	"crash":         func(setup rig.Setup) error { return crashes(crash.Options{Setup: setup, Deep: 300}) },
	"crash --short": func(setup rig.Setup) error { return crashes(crash.Options{Setup: setup, Deep: 300, Short: true}) },
	"ioerr": func(setup rig.Setup) error {
		for seed := uint64(1); seed <= 6; seed++ {
			if _, v := ioerr.Seed(seed, ioerr.Options{Setup: setup}); v != nil {
				return v
			}
		}
		return nil
	},
	"flip": func(setup rig.Setup) error {
		if _, v := flip.Seed(1, setup); v != nil {
			return v
		}
		return nil
	},
}

func crashes(o crash.Options) error {
	for seed := uint64(1); seed <= 40; seed++ {
		if _, v := crash.Seed(seed, o); v != nil {
			return v
		}
	}
	return nil
}

func TestSabotage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		setup  rig.Setup
		caught string // by this campaign
	}{
		{"no sync behind an append", rig.Setup{Broken: rig.NoAppendSync}, "crash"},
		{"no sync behind the cut of a torn tail", rig.Setup{Broken: rig.NoCutSync}, "crash"},
		{"no sync of a new file", rig.Setup{Broken: rig.NoNewSync}, "crash"},
		{"no sync of a tail kept aside", rig.Setup{Broken: rig.NoLostSync}, "crash"},
		{"no sync of the store's directory", rig.Setup{Broken: rig.NoNameSync}, "crash"},
		{"no sync of the directory of torn tails", rig.Setup{Broken: rig.NoLostName}, "crash"},
		{"a sync acknowledged before it is done", rig.Setup{Broken: rig.EarlySync}, "crash"},
		{"a lock that lets everybody in", rig.Setup{Broken: rig.NoLock}, "crash"},
		{"a rename in two steps", rig.Setup{Broken: rig.PlainRename}, "crash"},
		{"a truncation that does nothing", rig.Setup{Broken: rig.NoTruncate}, "crash"},
		{"a torn tail written over", rig.Setup{Breaks: wal.BreakTailCut}, "crash"},
		{"no catching up under the lock", rig.Setup{Breaks: wal.BreakCatchUp}, "crash"},
		{"a replaced file not noticed", rig.Setup{Breaks: wal.BreakIdentity}, "crash"},
		{"a short write taken for done", rig.Setup{Breaks: wal.BreakShortWrite}, "ioerr"},
		{"a failed sync tried again", rig.Setup{Breaks: wal.BreakRetrySync}, "ioerr"},
		{"what others appended last taken for durable", rig.Setup{Breaks: wal.BreakRefresh}, "ioerr"},
		{"a file replaced and not noted before", rig.Setup{Breaks: wal.BreakIntent}, "ioerr"},
		{"op ids ignored", rig.Setup{Breaks: wal.BreakDedupe}, "crash"},
		{"checksums not looked at", rig.Setup{Breaks: wal.BreakChecksum}, "flip"},
		{"a record vouches for itself", rig.Setup{Breaks: wal.BreakDurable}, "crash"},
		{"damage taken for a torn tail", rig.Setup{Breaks: wal.BreakResync}, "flip"},
		{"a change shown before it is durable", rig.Setup{Breaks: wal.BreakEarlyShow}, "ioerr"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			names := []string{tt.caught}
			if tt.caught == "crash" { // most disks of its long form are of short texts
				names = append(names, "crash --short")
			}
			for _, name := range names {
				err := hunts[name](tt.setup)
				if err == nil {
					t.Errorf("campaign %s did not notice", name)
				}
				t.Logf("campaign %s: %.300v", name, err)
			}
		})
	}
}
