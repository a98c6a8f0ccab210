// This file lets a process hold the lock of a store. Scripts use it to test a locked store.

package cli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// holder is the main function of a process that holds the lock of the store in its argument. It prints a message when
// it has the lock, and releases the lock when its input ends.
func holder() {
	store := os.Args[1]
	dir, err := vfs.Dir(filepath.Dir(store))
	if err == nil {
		_, err = wal.HoldLock(context.Background(), dir, filepath.Base(store), wal.Options{})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "holder:", err)
		os.Exit(1)
	}
	fmt.Println("held")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// holdCommand implements the script command "hold STORE [stopped]". It starts a process that holds the store's lock
// until the command "hold -" or until the script ends. With "stopped", it also suspends the process. It sets the
// variable $HOLDER to the process ID.
func holdCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 || (len(args) == 2 && args[1] != "stopped") {
		ts.Fatalf("usage: hold STORE [stopped] | hold -")
	}
	if args[0] == "-" {
		pid, err := strconv.Atoi(ts.Getenv("HOLDER"))
		ts.Check(err)
		ts.Check(endHolder(pid))
		return
	}
	r, w, err := os.Pipe() // pipe for the holder's output
	ts.Check(err)
	in, keep, err := os.Pipe() // pipe for the holder's input (closing it ends the holder)
	ts.Check(err)
	program, err := execPath("holder", ts.Getenv("PATH"))
	ts.Check(err)
	p, err := os.StartProcess(
		program,
		[]string{"holder", ts.MkAbs(args[0])},
		&os.ProcAttr{Files: []*os.File{in, w, os.Stderr}},
	)
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(in.Close())
	holders.Store(p.Pid, p)
	ts.Defer(func() {
		_ = endHolder(p.Pid)
		_ = keep.Close()
		_ = r.Close()
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil || line != "held\n" {
		ts.Fatalf("the holder said %q (%v), want held", line, err)
	}
	if len(args) == 2 {
		ts.Check(stop(p))
	}
	ts.Setenv("HOLDER", strconv.Itoa(p.Pid))
}

// holders contains the processes that hold the lock of a store for a script. The keys are process IDs, and the values
// have the type *os.Process.
var holders sync.Map

// endHolder ends a process that holds a lock. It does nothing if the process was already ended.
func endHolder(pid int) error {
	p, ok := holders.LoadAndDelete(pid)
	if !ok {
		return nil
	}
	if err := p.(*os.Process).Kill(); err != nil {
		return err
	}
	_, err := p.(*os.Process).Wait()
	return err
}

func execPath(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		for _, end := range []string{"", ".exe"} {
			if p := filepath.Join(dir, name+end); isFile(p) {
				return p, nil
			}
		}
	}
	return "", fmt.Errorf("no %s in PATH", name)
}

func isFile(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.Mode().IsRegular()
}
