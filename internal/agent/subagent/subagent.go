// This file composes the briefing of a sub-agent.

// Package subagent starts an agent for a single task. The memory of this sub-agent is restricted to the entries that a
// profile selects. The package composes the sub-agent's briefing. If the user has configured a runner, it also runs
// the sub-agent with a time limit and records the run as an entry.
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

// Environment variables that restrict a sub-agent to its memory. An oxbow process with these variables uses this home
// and this profile.
const (
	EnvHome    = "OXBOW_HOME"
	envProfile = "OXBOW_PROFILE"
	envAgent   = "OXBOW_AGENT"
	// Depth of the process in a chain of sub-agents. A sub-agent has depth 1 if a person's agent started it, and depth
	// 2 if such a sub-agent started it.
	EnvDepth    = "OXBOW_SPAWN_DEPTH"
	EnvSettings = "OXBOW_SETTINGS" // path of the settings file, or "none" (NoSettings) without a settings file
)

// NoSettings is the value of EnvSettings if no settings file is used.
const NoSettings = "none"

// Limits of sub-agents.
const (
	maxTaskBytes      = 256 << 10 // maximum size of a task in bytes
	maxSubAgentDepth  = 3         // maximum length of a chain of sub-agents in which each one starts the next
	maxConcurrentRuns = 4         // maximum number of sub-agents that a service runs at the same time
)

// Service composes briefings and runs sub-agents. It is safe for concurrent use.
type Service struct {
	Profiles           *profile.Set
	Skills             *skill.Set
	RestrictingProfile *profile.Resolved // profile that restricts the caller and its sub-agents (may be nil)

	ProgramPath string            // path of the oxbow program
	ProgramArgs []string          // arguments of oxbow that precede the command, such as --home DIR
	ProgramEnv  map[string]string // environment variables for oxbow, such as OXBOW_HOME
	SpawnDepth  int               // depth of the caller in a chain of sub-agents (0 if it is no sub-agent)

	// LoadAgentRunner returns the runner, or nil if none is configured. It is called before each run, so that changes
	// of the settings take effect. If it returns nil, only briefings can be made.
	LoadAgentRunner func() (*Runner, error)
	WorkingDir      string           // working directory of sub-agents
	Environ         func() []string  // environment for sub-agents, without oxbow's variables (nil means empty)
	Now             func() time.Time // nil means time.Now
	Stdout          io.Writer        // receives the output of running sub-agents (nil discards it)
	Stderr          io.Writer        // receives the standard error output of sub-agents (nil discards it)
	TermToKillDelay time.Duration    // time between SIGTERM and SIGKILL (5 s by default)

	mu           sync.Mutex // guards the fields below
	runningCount int
	cancelByRun  map[int]context.CancelFunc // cancel functions of the running sub-agents
	nextRunKey   int                        // key in cancelByRun for the next sub-agent that is started
	isClosed     bool
	runWaitGroup sync.WaitGroup // counts the running sub-agents, so that Close can wait for them
}

// SubagentRequest specifies a sub-agent.
type SubagentRequest struct {
	Agent string // name of the sub-agent, valid for [profile.CheckName]
	Task  string // task for the sub-agent, at most 256 KiB
	// profile of the sub-agent's memory; "" means the caller's profile, or the whole memory if the caller lacks a
	// profile
	Profile     string
	Skill       string // name of a skill (may be empty)
	AsOfSeq     uint64 // the memory is read as it was after the change with this number (0 means the present)
	TokenBudget int    // maximum tokens of the selected entries (0 means the profile's budget)
}

// ServerCommand is the command that starts the memory server of a sub-agent. Its fields have the form in which MCP
// clients configure servers.
type ServerCommand struct {
	Command string            `json:"command"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// Briefing is the information that a sub-agent receives.
type Briefing struct {
	Agent           string
	Task            string
	Profile         string       // "" if the sub-agent has access to the whole memory
	Skill           *skill.Skill // skill that the sub-agent gets, or nil
	EntrySelection  profile.Selection
	MemoryServer    ServerCommand
	EstimatedTokens int // estimated number of tokens in the text

	resolvedProfile profile.Resolved
	text            string
}

// Text returns the text of the briefing for the sub-agent's model.
func (b *Briefing) Text() string { return b.text }

// MakeBriefing composes the briefing: the name of the sub-agent, the entries that the profile selects, the skill, the
// command that starts its memory server, and the task. If the request is not valid, the error matches
// [oxbow.ErrInvalid].
func (s *Service) MakeBriefing(ctx context.Context, m *oxbow.Memory, req SubagentRequest) (*Briefing, error) {
	if err := profile.CheckName(req.Agent); err != nil {
		return nil, &oxbow.InvalidError{Field: "agent_id", Value: text.TruncateWithEllipsis(req.Agent, 64),
			Reason: "is not made of letters, digits, dots, dashes and underscores (at most 64, a letter or digit " +
				"first)"}
	}
	switch {
	case strings.TrimSpace(req.Task) == "":
		return nil, &oxbow.InvalidError{Field: "task", Reason: "is empty; say what the sub-agent is to do"}
	case len(req.Task) > maxTaskBytes:
		return nil, &oxbow.InvalidError{Field: "task", Value: strconv.Itoa(len(req.Task)) + " bytes",
			Reason: fmt.Sprintf("is longer than %d bytes; put what it needs into files and name them", maxTaskBytes)}
	}
	if err := oxbow.CheckContent(req.Task); err != nil {
		return nil, fmt.Errorf("task: %w", err)
	}
	b := &Briefing{Agent: req.Agent, Task: req.Task}
	var err error
	b.resolvedProfile, err = s.resolveProfile(req.Profile)
	if err != nil {
		return nil, err
	}
	b.Profile = b.resolvedProfile.Name
	if req.Skill != "" {
		k, err := s.Skills.Find(req.Skill)
		if err != nil {
			return nil, err
		}
		b.Skill = &k
	}
	b.EntrySelection, err = s.Profiles.Select(
		ctx,
		m,
		&b.resolvedProfile,
		profile.Request{Query: req.Task, Budget: req.TokenBudget, AsOf: req.AsOfSeq},
	)
	if err != nil {
		return nil, fmt.Errorf("selecting the memory of %s: %w", req.Agent, err)
	}
	b.MemoryServer = s.serverCommand(b)
	b.text = b.composeText()
	b.EstimatedTokens = prompt.EstimateTokens(b.text)
	return b, nil
}

// resolveProfile returns the profile of a sub-agent that requests the profile with this name. Without a name, the
// result is a profile for the whole memory.
//
// If the caller is bound to a profile, the sub-agent gets the same profile, and a request for another profile is an
// error. Otherwise the caller could see further entries through the sub-agent.
func (s *Service) resolveProfile(name string) (profile.Resolved, error) {
	switch {
	case s.RestrictingProfile != nil && name != "" && name != s.RestrictingProfile.Name:
		return profile.Resolved{}, &oxbow.InvalidError{
			Field: "memory_profile",
			Value: text.TruncateWithEllipsis(name, 64),
			Reason: fmt.Sprintf(
				"is not the profile %q that this session is bound to, and its sub-agents with it",
				s.RestrictingProfile.Name,
			),
		}
	case s.RestrictingProfile != nil:
		return *s.RestrictingProfile, nil
	case name == "":
		return profile.Everything(), nil
	}
	return s.Profiles.Resolve(name)
}

// serverCommand returns the command that starts the memory server of the sub-agent. The environment of the command
// names the sub-agent. If the sub-agent has a profile, the command restricts the server to this profile.
func (s *Service) serverCommand(b *Briefing) ServerCommand {
	r := ServerCommand{
		Command: s.ProgramPath,
		Args:    append(slices.Clone(s.ProgramArgs), "mcp"),
		Env:     maps.Clone(s.ProgramEnv),
	}
	if r.Env == nil {
		r.Env = map[string]string{}
	}
	r.Env[envAgent] = b.Agent
	r.Env[EnvDepth] = strconv.Itoa(s.SpawnDepth + 1)
	if b.Profile != "" {
		r.Args = append(r.Args, "--profile", b.Profile)
		r.Env[envProfile] = b.Profile
	}
	return r
}

// ShellCommand returns the command as a line for a POSIX shell, in which the environment variables precede the
// program.
func (r *ServerCommand) ShellCommand() string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(r.Env)) {
		words = append(words, k+"="+shellQuote(r.Env[k]))
	}
	words = append(words, shellQuote(r.Command))
	for _, a := range r.Args {
		words = append(words, shellQuote(a))
	}
	return strings.Join(words, " ")
}

// shellQuote quotes a word for a POSIX shell.
func shellQuote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !((r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') ||
			strings.ContainsRune("-_./:@%+,=", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// composeText joins the parts of the briefing. The task comes last, because models pay most attention to the end. It is
// not put into a code block, because the task is an instruction of the caller rather than data.
func (b *Briefing) composeText() string {
	var w strings.Builder
	fmt.Fprintf(
		&w,
		"# You are the sub-agent %s\n\nYou were started for one task, which stands at the end. Whoever started you "+
			"reads what you answer last, and nothing else of what you do.\n\n",
		b.Agent,
	)
	w.WriteString(b.EntrySelection.Text())
	if b.Skill != nil {
		fmt.Fprintf(
			&w,
			"# Skill: %s\n\nDo the task as it says. Files that it names are in %s.\n\n",
			b.Skill.Name,
			strconv.Quote(b.Skill.Dir),
		)
		w.WriteString(b.Skill.ModelText())
	}
	w.WriteString("# Your memory\n\n")
	if b.Profile != "" {
		fmt.Fprintf(
			&w,
			"It is bound to the profile %s: you see what the profile includes and nothing else, and what you "+
				"remember belongs to it.",
			b.Profile,
		)
	} else {
		w.WriteString("It is all of the memory: no profile was named.")
	}
	w.WriteString(
		" If you have no memory tools yet, this starts the server of them (Model Context Protocol, standard " +
			"streams):\n\n" + prompt.FenceText(
			"sh",
			b.MemoryServer.ShellCommand(),
		) + "\n",
	)
	if n := b.EntrySelection.AsOf; n != 0 {
		fmt.Fprintf(
			&w,
			"The entries above are from the past: as the memory stood after change %d. The tools answer from the "+
				"memory as it is now; recall answers from the past with as_of \"%d\".\n\n",
			n,
			n,
		)
	}
	w.WriteString("# Task\n\n" + strings.TrimSpace(b.Task) + "\n")
	return w.String()
}

func (s *Service) currentTime() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// registerSubAgentRun registers a run. It returns a context that Close cancels, and a function that the caller must
// call when the run has ended. It returns an error in these cases:
//
// - The service is closed.
// - maxConcurrentRuns sub-agents are already running.
// - The caller is itself a sub-agent in a chain of maxSubAgentDepth sub-agents, each of which started the next.
func (s *Service) registerSubAgentRun(ctx context.Context) (context.Context, func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.isClosed:
		return ctx, nil, fmt.Errorf("starting a sub-agent: %w", context.Canceled)
	case s.SpawnDepth >= maxSubAgentDepth:
		return ctx, nil, &oxbow.InvalidError{
			Field:  "sub-agent",
			Reason: fmt.Sprintf("cannot be started: %d stand above already, which is the most", maxSubAgentDepth),
		}
	case s.runningCount >= maxConcurrentRuns:
		return ctx, nil, &oxbow.InvalidError{
			Field: "sub-agent",
			Reason: fmt.Sprintf(
				"cannot be started: %d run already, which is the most; wait until one has ended",
				maxConcurrentRuns,
			),
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	if s.cancelByRun == nil {
		s.cancelByRun = map[int]context.CancelFunc{}
	}
	key := s.nextRunKey
	s.nextRunKey++
	s.runningCount++
	s.cancelByRun[key] = cancel
	s.runWaitGroup.Add(1)
	return ctx, func() {
		cancel()
		s.mu.Lock()
		s.runningCount--
		delete(s.cancelByRun, key)
		s.mu.Unlock()
		s.runWaitGroup.Done()
	}, nil
}

// Close stops all running sub-agents, and waits until their ends are recorded. The memory must stay open until Close
// returns.
func (s *Service) Close() error {
	s.mu.Lock()
	s.isClosed = true
	for _, stop := range s.cancelByRun {
		stop()
	}
	s.mu.Unlock()
	s.runWaitGroup.Wait()
	return nil
}

var _ io.Closer = (*Service)(nil)
