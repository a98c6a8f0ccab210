// This file implements the verb spawn_sub_agent, which starts a separate agent with a task and the memory of a
// profile.

package profiles

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/agent/subagent"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// spawnSubAgentDescription describes the tool spawn_sub_agent to the models that may call it.
//
//go:embed spawn_sub_agent.md
var spawnSubAgentDescription string

// SubAgentTools returns the verb spawn_sub_agent. The verb starts sub-agents with the given service. It is not in
// [verb.Tools], because some interfaces must not start programs.
func SubAgentTools(service *subagent.Service) []verb.Tool {
	return []verb.Tool{
		verb.DefineTool(
			verb.Tool{
				Verb:        verb.Verb{Name: "spawn_sub_agent", Title: "Start a sub-agent"},
				Description: spawnSubAgentDescription,
			}, func(ctx context.Context, w *verb.Workspace, in SpawnSubAgentIn) (SpawnSubAgentOut, error) {
				return SpawnSubAgent(ctx, w, service, in)
			},
		),
	}
}

// SpawnSubAgentIn is the argument of spawn_sub_agent.
type SpawnSubAgentIn struct {
	AgentID       string `json:"agent_id"                 also:"agent,id,name"       jsonschema:"Letters, digits, dashes."                                                               usage:"Name of the sub-agent, such as vtt-refactor."`
	Task          string `json:"task"                     also:"prompt,instructions" jsonschema:"All that it is told of this conversation: what is wanted, which files, what to answer." usage:"What it is to do and to answer, in Markdown; it sees nothing of this conversation."`
	SkillName     string `json:"skill_name,omitempty"     also:"skill"               jsonschema:"Skill that says how."                                                                   usage:"Skill that says how to do the task."                                                flag:"skill"`
	MemoryProfile string `json:"memory_profile,omitempty" also:"profile"             jsonschema:"By default this session's memory."                                                      usage:"Memory profile that the sub-agent is bound to."                                     flag:"profile"`
	AsOfDateOrSeq string `json:"as_of,omitempty"                                     jsonschema:"The memory at this date or change."                                                     usage:"Select from the memory as it stood at this date, or after this change."`
	Budget        *int   `json:"max_tokens,omitempty"     also:"token_budget,budget" jsonschema:"Most tokens of what is selected."                                                       usage:"Most tokens of the selection, instead of the profile's own."`
	Offset        *int   `json:"offset,omitempty"         also:"skip,start"          jsonschema:"Where the page of the briefing begins."                                                 usage:"Bytes of the briefing to pass over first."`
	BriefingOnly  bool   `json:"briefing_only,omitempty"                             jsonschema:"Start nothing."                                                                         usage:"Answer with the briefing and start nothing."                                        flag:"briefing"`
}

// SpawnSubAgentOut is the result of spawn_sub_agent.
type SpawnSubAgentOut struct {
	AgentID       string       `json:"agent_id"`
	MemoryProfile string       `json:"memory_profile,omitempty"`
	Skill         *skill.Skill `json:"skill,omitempty"`
	// number of the change at which the memory was read
	AsOfSeq    uint64 `json:"as_of,omitempty"`
	EntryCount int    `json:"entries"` // number of entries in the briefing
	// estimated number of tokens in the whole briefing
	BriefingTokens int `json:"tokens"`
	// how the sub-agent starts a server for its memory
	MemoryServerCommand subagent.ServerCommand `json:"memory"`
	// text for the sub-agent (empty if the sub-agent was started)
	Briefing  string       `json:"briefing,omitempty"`
	verb.Page              // page that the caller asked for
	Run       *SubAgentRun `json:"run,omitempty"` // result of the run (nil if the sub-agent was not started)
	Notes     []verb.Note  `json:"notes,omitempty"`
}

// SubAgentRun is the outcome of a sub-agent's run.
type SubAgentRun struct {
	HowRunEnded  string  `json:"ended"`       // "done", "failed", "stopped" or "timeout"
	ExitStatus   int     `json:"exit_status"` // -1 if unknown
	StartTime    string  `json:"started"`
	Seconds      float64 `json:"seconds"`
	RunEntryName string  `json:"entry,omitempty"` // name of the memory entry that describes this run of the sub-agent
	Result       string  `json:"result"`          // standard output of the sub-agent
	// number of bytes that were cut out of the middle of Result, because it was too long
	OmittedBytes int    `json:"cut,omitempty"`
	ErrorOutput  string `json:"errors,omitempty"` // end of standard error (only if the run failed)
}

// SpawnSubAgent starts a sub-agent with the service, and returns the outcome of its run. If in.BriefingOnly is set or
// no program for sub-agents is configured, it starts nothing, and returns the briefing that a sub-agent would get. If
// service is nil, because the caller may not start sub-agents, it returns an error.
func SpawnSubAgent(
	ctx context.Context,
	w *verb.Workspace,
	service *subagent.Service,
	in SpawnSubAgentIn,
) (SpawnSubAgentOut, error) {
	if service == nil {
		return SpawnSubAgentOut{}, verb.NewUnsupportedError(
			"sub-agents are not served here",
			"oxbow spawn AGENT_ID TASK starts one, on the machine of the memory",
		)
	}
	r, err := runnerForRequest(service, in)
	if err != nil {
		return SpawnSubAgentOut{}, err
	}
	how := verb.Read
	if r != nil {
		how = verb.Create // Starting a sub-agent also writes an entry that describes the run.
	}
	ctx, m, err := w.OpenMemory(ctx, how)
	if err != nil {
		return SpawnSubAgentOut{}, err
	}
	req, err := in.makeRequest(ctx, w, m)
	if err != nil {
		return SpawnSubAgentOut{}, err
	}
	b, err := service.MakeBriefing(ctx, m, req)
	if err != nil {
		return SpawnSubAgentOut{}, err
	}
	out := SpawnSubAgentOut{AgentID: b.Agent, MemoryProfile: b.Profile, Skill: b.Skill, AsOfSeq: b.EntrySelection.AsOf,
		EntryCount: b.EntrySelection.In, BriefingTokens: b.EstimatedTokens, MemoryServerCommand: b.MemoryServer,
		Notes: verb.PlainNotes(b.EntrySelection.Notes)}
	if b.EntrySelection.In == 0 {
		out.Notes = append(
			out.Notes,
			verb.PlainNote("the profile selects no entries: the sub-agent begins without memory"),
		)
	}
	switch {
	case r == nil:
		if !in.BriefingOnly {
			out.Notes = append(
				out.Notes,
				verb.PlainNote(
					"nothing was started: the user has configured no runner; start an agent with this briefing",
				),
			)
		}
		before, after, _ := strings.Cut(b.Text(), b.EntrySelection.Text())
		out.Briefing, err = out.CutText(
			slices.Concat([]string{before}, verb.PartTexts(b.EntrySelection.Context), []string{after}),
			in.Offset,
			w.PageRoom(len(prompt.ReporterText(out))),
		)
		return out, err
	case in.Offset != nil:
		return SpawnSubAgentOut{}, verb.InvalidValue(
			"offset",
			strconv.Itoa(*in.Offset),
			"is for a page of the briefing; give briefing_only too, or the sub-agent runs again",
		)
	}
	went, err := service.Run(ctx, m, r, b)
	if err != nil {
		return SpawnSubAgentOut{}, err
	}
	out.addRunOutcome(&went, w.PageRoom(len(went.ErrorOutput)))
	return out, nil
}

// makeRequest returns the request to the service that starts the sub-agent.
func (in *SpawnSubAgentIn) makeRequest(
	ctx context.Context,
	w *verb.Workspace,
	m *oxbow.Memory,
) (req subagent.SubagentRequest, err error) {
	req = subagent.SubagentRequest{Agent: in.AgentID, Task: in.Task, Profile: in.MemoryProfile, Skill: in.SkillName}
	if in.Budget != nil {
		req.TokenBudget = *in.Budget
		if req.TokenBudget < 1 {
			return req, verb.InvalidValue("max_tokens", strconv.Itoa(req.TokenBudget), "is less than 1 token")
		}
	}
	if in.AsOfDateOrSeq != "" {
		req.AsOfSeq, err = verb.ResolveChangeSeq(ctx, m, in.AsOfDateOrSeq, w.CurrentTime())
		if err == nil && req.AsOfSeq == 0 {
			err = verb.InvalidValue("as_of", in.AsOfDateOrSeq, "is before the memory held anything")
		}
	}
	return req, err
}

// addRunOutcome adds the outcome of a run to o. If the run's output is longer than maxBytes, addRunOutcome adds only
// the end of the output, and a note that refers to the entry with the whole output. If the run has no such entry
// (outcome.EntryName is empty), it adds the whole output.
func (o *SpawnSubAgentOut) addRunOutcome(outcome *subagent.RunOutcome, maxBytes int) {
	o.Run = &SubAgentRun{
		HowRunEnded: outcome.EndState,
		ExitStatus:  outcome.ExitStatus,
		StartTime:   outcome.StartTime.UTC().Format(time.RFC3339),
		Seconds: float64(
			outcome.Duration.Milliseconds(),
		) / 1000,
		RunEntryName: outcome.EntryName,
		Result:       outcome.Output,
		OmittedBytes: outcome.OmittedBytes,
	}
	if outcome.EndState != subagent.StateDone {
		o.Run.ErrorOutput = outcome.ErrorOutput
	}
	o.Notes = append(o.Notes, verb.PlainNotes(outcome.WarningNotes)...)
	if over := len(outcome.Output) - maxBytes; over > 0 && outcome.EntryName != "" {
		o.Run.Result = outcome.Output[len(text.TruncateBytes(outcome.Output, over)):]
		o.Notes = append(o.Notes, verb.Notef("the first %d bytes of its answer are left out here; %s", over,
			&verb.CallHint{Verb: "get", Args: []verb.HintArgument{{Name: "name", Value: outcome.EntryName}},
				Effect: "gives all of it"}))
	}
}

// runnerForRequest returns the runner that starts the sub-agent. It returns nil if the call only makes a briefing, or
// if the service cannot start sub-agents because service.LoadAgentRunner is nil.
func runnerForRequest(service *subagent.Service, in SpawnSubAgentIn) (*subagent.Runner, error) {
	if in.BriefingOnly || service.LoadAgentRunner == nil {
		return nil, nil
	}
	r, err := service.LoadAgentRunner()
	if err != nil {
		return nil, fmt.Errorf("reading how sub-agents are started: %w", err)
	}
	return r, nil
}

// Report shows the briefing or the result of a run. The result is quoted, because another agent wrote it.
func (o SpawnSubAgentOut) Report() (r report.Report) {
	report.AddNotes(&r, o.Notes)
	if o.Run == nil {
		r.Add(report.TextForModel(o.Briefing + "\n" + o.ContinuationLine()))
		return r
	}
	ended := report.Sentencef(
		"sub-agent %s: %s after %.1f s",
		report.OxbowText(o.AgentID),
		report.OxbowText(o.Run.HowRunEnded),
		o.Run.Seconds,
	)
	if o.Run.ExitStatus >= 0 {
		ended = report.Sentencef("%s, exit status %d", ended, o.Run.ExitStatus)
	}
	if o.Run.RunEntryName != "" {
		ended = report.Sentencef("%s; recorded as %s", ended, report.EntryName(o.Run.RunEntryName))
	}
	r.AddLinef("%s", ended)
	r.Add(report.Record{Key: report.OxbowText("It answered (data, to be checked):"),
		TextCellsBelow: []report.Cell{{Name: "text", Value: report.QuotedText(o.Run.Result)}}})
	if o.Run.ErrorOutput != "" {
		r.Add(report.Record{Key: report.OxbowText("Its errors ended with:"),
			TextCellsBelow: []report.Cell{{Name: "text", Value: report.QuotedText(o.Run.ErrorOutput)}}})
	}
	return r
}

// Failed reports whether a run was started and did not succeed.
func (o SpawnSubAgentOut) Failed() bool {
	return o.Run != nil && o.Run.HowRunEnded != subagent.StateDone
}
