// This file implements the command "survive". The command measures how many of the writes that a server acknowledged
// are stored afterwards.

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// memoryServerPackage is the npm package of the other memory program (the peer) with which oxbow is compared by
// default.
const memoryServerPackage = "@modelcontextprotocol/server-memory@2026.8.31"

func surviveCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	peer := fl.String("peer", memoryServerPackage, "npm `PACKAGE` of the peer; none leaves it out")
	limit := fl.Duration("timeout", 5*time.Minute, "give up after this time")
	b.addDirFlag(fl)
	return b.withTempDir("survive", func(ctx context.Context, dir string) error {
		ctx, cancel := context.WithTimeout(ctx, *limit)
		defer cancel()
		b.logf("survive: building")
		path, err := buildOxbow(ctx, dir, "oxbow", "-trimpath", "-ldflags=-s -w")
		if err != nil {
			return err
		}
		env := minimalEnv(os.Getenv, dir)
		subjects := []testedServer{newTestedOxbowServer(program{path: path, args: []string{"mcp"}, env: env})}
		left := "it was not asked for (--peer none)"
		if *peer != "none" {
			p, name, err := installMemoryServer(ctx, filepath.Join(dir, "peer"), *peer)
			if err != nil {
				left = err.Error()
			} else {
				p.env = env
				subjects, left = append(subjects, newTestedGraphServer(name, p)), ""
			}
		}
		if err := b.measureSurvivingWrites(ctx, dir, subjects, serverLoads()); err != nil {
			return err
		}
		if left != "" {
			b.printf("The peer was left out: %s.\n\n", left)
		}
		return nil
	})
}

// serverLoad describes the processes that write to one store at the same time.
type serverLoad struct {
	processes, callsPerProcess int
	sendsAllCallsFirst         bool // Each process sends all its calls before it reads the first answer.
	killAfterAcknowledgements  int  // number of acknowledgements after which the processes are killed (0 means never)
}

func serverLoads() []serverLoad {
	return []serverLoad{
		{processes: 1, callsPerProcess: 100, sendsAllCallsFirst: true},
		{processes: 2, callsPerProcess: 100},
		{processes: 2, callsPerProcess: 100, sendsAllCallsFirst: true},
		{processes: 8, callsPerProcess: 50},
		{processes: 8, callsPerProcess: 50, sendsAllCallsFirst: true},
		{processes: 2, callsPerProcess: 100, killAfterAcknowledgements: 50},
	}
}

func (l serverLoad) String() string {
	s := fmt.Sprintf("%d processes × %d calls", l.processes, l.callsPerProcess)
	if l.processes == 1 {
		s = fmt.Sprintf("1 process × %d calls", l.callsPerProcess)
	}
	if l.sendsAllCallsFirst {
		s += " in parallel"
	} else {
		s += ", one after another"
	}
	if l.killAfterAcknowledgements > 0 {
		s += fmt.Sprintf(", kill -9 after %d answers", l.killAfterAcknowledgements)
	}
	return s
}

// testedServer is a memory server that is tested.
type testedServer struct {
	name string
	// Starts the server with its store in dir.
	newServer func(dir string) program
	// returns the tool call with which the server stores a memory with this name
	newStoreCall func(name string) (tool string, args any)
	// returns the names of the memories that the server has stored in dir
	storedNames func(ctx context.Context, dir string) (map[string]bool, error)
}

// newTestedOxbowServer returns oxbow as one of the servers to test. The names that it has stored are read directly from
// its store, and not through the server.
func newTestedOxbowServer(p program) testedServer {
	return testedServer{
		name:      "oxbow",
		newServer: func(dir string) program { return p.withEnv("OXBOW_HOME=" + dir) },
		newStoreCall: func(name string) (string, any) {
			return "remember", map[string]any{"name": name, "content": "What " + name + " said."}
		},
		storedNames: func(ctx context.Context, dir string) (names map[string]bool, err error) {
			m, err := oxbow.Open(filepath.Join(dir, "memory.oxbow"), &oxbow.Options{ReadOnly: true})
			if err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, m.Close()) }()
			names = map[string]bool{}
			for e, err := range m.Entries(ctx, oxbow.Filter{}) {
				if err != nil {
					return nil, err
				}
				names[e.Name] = e.Content == "What "+e.Name+" said."
			}
			return names, nil
		},
	}
}

// newTestedGraphServer returns a server that stores a graph of entities in a JSON lines file. The stored names
// are read from the lines that are valid.
func newTestedGraphServer(name string, p program) testedServer {
	const file = "memory.jsonl"
	return testedServer{
		name:      name,
		newServer: func(dir string) program { return p.withEnv("MEMORY_FILE_PATH=" + filepath.Join(dir, file)) },
		newStoreCall: func(name string) (string, any) {
			return "create_entities", map[string]any{"entities": []any{map[string]any{
				"name": name, "entityType": "note", "observations": []string{"What " + name + " said."}}}}
		},
		storedNames: func(_ context.Context, dir string) (map[string]bool, error) {
			b, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, err
			}
			names := map[string]bool{}
			sc := bufio.NewScanner(strings.NewReader(string(b)))
			sc.Buffer(nil, 64<<20)
			for sc.Scan() {
				var e struct {
					Type, Name string
				}
				if json.Unmarshal(sc.Bytes(), &e) == nil && e.Type == "entity" {
					names[e.Name] = true
				}
			}
			return names, sc.Err()
		},
	}
}

// measureSurvivingWrites tests each server with each kind of load, and prints how many acknowledged writes are still
// stored at the end.
func (b *bench) measureSurvivingWrites(
	ctx context.Context,
	dir string,
	subjects []testedServer,
	loads []serverLoad,
) error {
	t := newTable("load", "server", "acknowledged", "kept of them", "lost", "refused")
	refusals := map[string]bool{}
	for i, l := range loads {
		for j, s := range subjects {
			b.logf("survive: %s: %s", s.name, l)
			home := filepath.Join(dir, fmt.Sprintf("store-%d-%d", i, j))
			if err := os.MkdirAll(home, 0o700); err != nil {
				return err
			}
			o, err := s.runLoad(ctx, home, l)
			if err != nil {
				return fmt.Errorf("%s under %s: %w", s.name, l, err)
			}
			t.addRow(
				l.String(),
				s.name,
				formatCount(o.acknowledgedCount),
				formatCount(o.storedCount),
				formatCount(o.acknowledgedCount-o.storedCount),
				formatCount(o.refusedCount),
			)
			if o.refusal != "" {
				refusals[s.name+": "+o.refusal] = true
			}
		}
	}
	b.emitTable(t)
	b.printf(
		"All processes of a row share one store. Acknowledged: the call was answered, and not with an error. Kept: " +
			"found in the store after all processes had ended. Refused: the caller was told that the call failed.\n\n",
	)
	for _, r := range slices.Sorted(maps.Keys(refusals)) {
		b.printf("- refused by %s\n", r)
	}
	return nil
}

// callCounts counts how the calls in one test ended.
type callCounts struct {
	acknowledgedCount, storedCount, refusedCount int
	refusal                                      string // error message of the first call that the server refused
}

// runLoad runs server processes with their common store in dir, sends them the calls that l describes, and counts how
// the calls ended.
func (s testedServer) runLoad(ctx context.Context, dir string, l serverLoad) (o callCounts, err error) {
	clients := make([]*mcpClient, l.processes)
	defer func() {
		for _, c := range clients {
			if c != nil {
				c.kill()
				_ = c.close()
			}
		}
	}()
	for i := range clients {
		clients[i], err = startServer(ctx, s.newServer(dir))
		if err != nil {
			return o, err
		}
	}
	for i, c := range clients {
		if err := c.initialize(); err != nil {
			return o, fmt.Errorf("process %d: %w", i+1, err)
		}
	}
	var (
		mu     sync.Mutex // mu guards the counts and the state of the processes.
		acked  []string
		killed bool
		wg     sync.WaitGroup
	)
	took := func(name string, r mcpReply) {
		err := r.toolError()
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err == nil:
			acked = append(acked, name)
			mustKill := l.killAfterAcknowledgements > 0 && len(acked) >= l.killAfterAcknowledgements
			if mustKill && !killed {
				killed = true
				for _, c := range clients {
					c.kill()
				}
			}
		case killed:
			// The server was killed before it answered this call, so the call is not counted.
		default:
			o.refusedCount++
			if o.refusal == "" {
				o.refusal = firstLine(err.Error())
			}
		}
	}
	for i, c := range clients {
		wg.Go(func() {
			answers := map[string]<-chan mcpReply{}
			for j := range l.callsPerProcess {
				name := fmt.Sprintf("writer %d, word %d", i+1, j+1)
				ch := c.callTool(s.newStoreCall(name))
				if !l.sendsAllCallsFirst {
					took(name, <-ch)
					continue
				}
				answers[name] = ch
			}
			for name, ch := range answers {
				took(name, <-ch)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return o, err
	}
	for i, c := range clients {
		err := c.close()
		clients[i] = nil
		if err != nil && !killed {
			return o, fmt.Errorf("process %d: %w", i+1, err)
		}
	}
	there, err := s.storedNames(ctx, dir)
	if err != nil {
		return o, fmt.Errorf("reading what was kept: %w", err)
	}
	o.acknowledgedCount = len(acked)
	for _, name := range acked {
		if there[name] {
			o.storedCount++
		}
	}
	return o, nil
}
