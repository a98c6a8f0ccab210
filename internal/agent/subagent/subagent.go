// The briefing of a sub-agent.

// Package subagent starts agents for one task each, with a memory of their own:
// the selection of one profile instead of all that the caller knows. It makes
// the briefing and, where the user has configured a runner, runs the agent with
// it: bound to the profile, within a time, and recorded as an entry.
package subagent

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/profile"
)

// The environment that a sub-agent's memory is bound by. Whatever starts oxbow
// with it gets that home and that profile.
const (
	EnvHome     = "OXBOW_HOME"
	envProfile  = "OXBOW_PROFILE"
	envAgent    = "OXBOW_AGENT"
	EnvDepth    = "OXBOW_SPAWN_DEPTH" // how many sub-agents stand above, a number
	EnvSettings = "OXBOW_SETTINGS"    // the file of settings, or NoSettings
)

// NoSettings is the value of EnvSettings that means none.
const NoSettings = "none"

// Limits of sub-agents.
const (
	maxTask    = 256 << 10 // bytes of a task
	maxDepth   = 3         // sub-agents of sub-agents
	maxRunning = 4         // of one service at once
)

// Service makes sub-agents. It is safe for concurrent use.
type Service struct {
	Profiles *profile.Set
	Skills   *skill.Set
	Bound    *profile.Resolved // that the caller is bound to: its sub-agents are bound to it too; nil for none

	Program string            // path of oxbow
	Args    []string          // of each run of it before the command, such as --home DIR
	Env     map[string]string // of each run of it, such as OXBOW_HOME
	Depth   int               // sub-agents that stand above the caller

	// Runner returns how sub-agents are started, or nil when only briefings
	// are made. It is called for each run, so that an edit counts. Nil means
	// no runner.
	Runner  func() (*Runner, error)
	Dir     string           // working directory of what is started
	Environ func() []string  // of what is started, but for variables of oxbow; nil means none
	Now     func() time.Time // nil means time.Now
	Stdout  io.Writer        // gets what sub-agents print, as it comes; nil discards it
	Stderr  io.Writer        // gets their errors
	Grace   time.Duration    // that a process which is asked to end may take; 5 s by default

	mu      sync.Mutex // guards the following
	running int
	stop    map[int]context.CancelFunc // of what runs
	next    int                        // key of the next in stop
	closed  bool
	ended   sync.WaitGroup // what runs
}

// Request asks for one sub-agent.
type Request struct {
	Agent   string // names it, by the rules of [profile.CheckName]
	Task    string // at most 256 KiB
	Profile string // of its memory; "" means the caller's, or all of the memory where the caller has none
	Skill   string // "" for none
	AsOf    uint64 // select from the memory as it stood after this change; 0 means now
	Budget  int    // tokens of the selection; 0 means the profile's own
}

// Reach is how the memory of a sub-agent is started, in the form that clients of
// the Model Context Protocol are configured with.
type Reach struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// Briefing is what a sub-agent receives.
type Briefing struct {
	Agent     string
	Task      string
	Profile   string       // "" when it knows all of the memory
	Skill     *skill.Skill // nil for none
	Selection profile.Selection
	Reach     Reach
	Tokens    int // estimate of the text

	resolved profile.Resolved
	text     string
}

// Text returns the briefing as it stands before the sub-agent's model.
func (b *Briefing) Text() string { return b.text }

// Brief makes the briefing: who the sub-agent is, what its profile selects from
// the memory, the skill, how to reach its memory, and the task. Errors match
// [oxbow.ErrInvalid] when the request cannot be met.
func (s *Service) Brief(ctx context.Context, m *oxbow.Memory, req Request) (*Briefing, error) {
	if err := profile.CheckName(req.Agent); err != nil {
		return nil, &oxbow.InvalidError{Field: "agent_id", Value: text.Clip(req.Agent, 64),
			Reason: "is not made of letters, digits, dots, dashes and underscores (at most 64, a letter or digit first)"}
	}
	switch {
	case strings.TrimSpace(req.Task) == "":
		return nil, &oxbow.InvalidError{Field: "task", Reason: "is empty; say what the sub-agent is to do"}
	case len(req.Task) > maxTask:
		return nil, &oxbow.InvalidError{Field: "task", Value: strconv.Itoa(len(req.Task)) + " bytes",
			Reason: fmt.Sprintf("is longer than %d bytes; put what it needs into files and name them", maxTask)}
	}
	if err := oxbow.CheckContent(req.Task); err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	b := &Briefing{Agent: req.Agent, Task: req.Task}
	var err error
	b.resolved, err = s.profile(req.Profile)
	if err != nil {
		return nil, err
	}
	b.Profile = b.resolved.Name
	if req.Skill != "" {
		k, err := s.Skills.Find(req.Skill)
		if err != nil {
			return nil, err
		}
		b.Skill = &k
	}
	b.Selection, err = s.Profiles.Select(ctx, m, &b.resolved, profile.Request{Query: req.Task, Budget: req.Budget, AsOf: req.AsOf})
	if err != nil {
		return nil, fmt.Errorf("selecting the memory of %s: %w", req.Agent, err)
	}
	b.Reach = s.reach(b)
	b.text = b.write()
	b.Tokens = prompt.Tokens(b.text)
	return b, nil
}

// profile returns what the sub-agent is bound to. A caller who is bound cannot
// see through another profile by way of a sub-agent.
func (s *Service) profile(name string) (profile.Resolved, error) {
	switch {
	case s.Bound != nil && name != "" && name != s.Bound.Name:
		return profile.Resolved{}, &oxbow.InvalidError{Field: "memory_profile", Value: text.Clip(name, 64),
			Reason: fmt.Sprintf("is not the profile %q that this session is bound to, and its sub-agents with it", s.Bound.Name)}
	case s.Bound != nil:
		return *s.Bound, nil
	case name == "":
		return profile.Everything(), nil
	}
	return s.Profiles.Resolve(name)
}

func (s *Service) reach(b *Briefing) Reach {
	r := Reach{Command: s.Program, Args: append(slices.Clone(s.Args), "mcp"), Env: maps.Clone(s.Env)}
	if r.Env == nil {
		r.Env = map[string]string{}
	}
	r.Env[envAgent] = b.Agent
	r.Env[EnvDepth] = strconv.Itoa(s.Depth + 1)
	if b.Profile != "" {
		r.Args = append(r.Args, "--profile", b.Profile)
		r.Env[envProfile] = b.Profile
	}
	return r
}

// CommandLine returns the command as a person types it into a shell, after the
// variables that it needs.
func (r *Reach) CommandLine() string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		words = append(words, k+"="+quote(r.Env[k]))
	}
	words = append(words, quote(r.Command))
	for _, a := range r.Args {
		words = append(words, quote(a))
	}
	return strings.Join(words, " ")
}

// quote writes a word for a POSIX shell.
func quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !((r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') || strings.ContainsRune("-_./:@%+,=", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// write puts the parts together. The task stands last, where models heed it
// most; it is the caller's order and stands in no fence.
func (b *Briefing) write() string {
	var w strings.Builder
	fmt.Fprintf(&w, "# You are the sub-agent %s\n\nYou were started for one task, which stands at the end. Whoever started you reads what you answer last, and nothing else of what you do.\n\n", b.Agent)
	w.WriteString(b.Selection.Text())
	if b.Skill != nil {
		fmt.Fprintf(&w, "# Skill: %s\n\nDo the task as it says. Files that it names are in %s.\n\n", b.Skill.Name, strconv.Quote(b.Skill.Dir))
		w.WriteString(b.Skill.Show())
	}
	w.WriteString("# Your memory\n\n")
	if b.Profile != "" {
		fmt.Fprintf(&w, "It is bound to the profile %s: you see what the profile includes and nothing else, and what you remember belongs to it.", b.Profile)
	} else {
		w.WriteString("It is all of the memory: no profile was named.")
	}
	w.WriteString(" If you have no memory tools yet, this starts the server of them (Model Context Protocol, standard streams):\n\n" + prompt.Fence("sh", b.Reach.CommandLine()) + "\n")
	if n := b.Selection.AsOf; n != 0 {
		fmt.Fprintf(&w, "The entries above are from the past: as the memory stood after change %d. The tools answer from the memory as it is now; recall answers from the past with as_of \"%d\".\n\n", n, n)
	}
	w.WriteString("# Task\n\n" + strings.TrimSpace(b.Task) + "\n")
	return w.String()
}

func (s *Service) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// begin counts a run and returns the context that ends with the service, and
// the call that ends the count.
func (s *Service) begin(ctx context.Context) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return ctx, nil, fmt.Errorf("starting a sub-agent: %w", context.Canceled)
	case s.Depth >= maxDepth:
		return ctx, nil, &oxbow.InvalidError{Field: "sub-agent", Reason: fmt.Sprintf("cannot be started: %d stand above already, which is the most", maxDepth)}
	case s.running >= maxRunning:
		return ctx, nil, &oxbow.InvalidError{Field: "sub-agent", Reason: fmt.Sprintf("cannot be started: %d run already, which is the most; wait until one has ended", maxRunning)}
	}
	ctx, cancel := context.WithCancel(ctx)
	if s.stop == nil {
		s.stop = map[int]context.CancelFunc{}
	}
	key := s.next
	s.next++
	s.running++
	s.stop[key] = cancel
	s.ended.Add(1)
	return ctx, func() {
		cancel()
		s.mu.Lock()
		s.running--
		delete(s.stop, key)
		s.mu.Unlock()
		s.ended.Done()
	}, nil
}

// Close stops what runs and waits until it has ended and was recorded. The
// memory must be open until then.
func (s *Service) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, stop := range s.stop {
		stop()
	}
	s.mu.Unlock()
	s.ended.Wait()
	return nil
}

var _ io.Closer = (*Service)(nil)
