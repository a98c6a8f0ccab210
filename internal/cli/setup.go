// This file implements the command "oxbow setup". To test a configured server, the command starts the server in the
// same way as a client does.

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/clients"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
)

// setupIn contains the verb's input, and the flag --yes.
type setupIn struct {
	clients.SetupIn
	AssumesYes bool `json:"yes,omitempty" usage:"Do not ask."`
}

func setupCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "setup [CLIENT...|all]",
		Short: "Connect your agents to this memory, or disconnect them",
		Long: `Setup connects an agent's client to this memory. It adds the server with the
tools, permission to call most tools without asking (the client still asks
before forget), and hooks. In the client's files, it changes only oxbow's own
settings: other settings, comments, order and line ends stay. A second run
changes nothing. --remove restores the files byte for byte or, if they changed
since, removes only oxbow's settings. At the end, setup starts the server as
the client would.

Clients: claude codex gemini opencode copilot qwen, all tested with oxbow. For
cursor cline goose, setup follows their documentation. For vscode windsurf zed
kilo, it does the same and adds only the server. These were not tested. Without
a client, setup lists the installed clients, and on a terminal asks which to
set up. With --yes, it sets up all of them.

If you chose the home with --home or a variable, setup writes its path into the
files. Otherwise the agent uses the home of the project in which it works.
docs/setup.md explains what is recorded, and how to stop this for a session.`,
		Example: `  oxbow setup
  oxbow setup claude --dry-run       # the difference of each file
  oxbow setup all --yes              # asks nothing at a terminal
  oxbow setup --check
  oxbow setup --remove`,
	}, mem.runSetup)
}

func (mem *lazyMemory) runSetup(ctx context.Context, in setupIn, args []string) error {
	in.Clients = args
	isTerminal := mem.env.IsStdinTerminal && mem.env.IsStderrTerminal
	if err := in.checkOptionConflicts(isTerminal); err != nil {
		return err
	}
	if err := mem.fillSetupInput(&in.SetupIn); err != nil {
		return err
	}
	asks := isTerminal && !in.AssumesYes && !in.DryRun && !in.OnlyCheck
	if asks {
		in.Confirm = mem.env.confirmChanges
	}
	namesNone := len(args) == 0 && !in.Remove && !in.OnlyCheck
	switch {
	case namesNone && in.AssumesYes:
		in.Clients = []string{"all"}
	case namesNone && asks:
		var err error
		in.Clients, err = mem.askWhichClients(ctx, in.SetupIn)
		if err != nil || len(in.Clients) == 0 {
			return err
		}
	}
	return callAndPrint(ctx, mem, clients.SetupClients, in.SetupIn, func(out clients.SetupOut) {
		mem.env.showReport(out.Report(in.SetupIn))
	})
}

// checkOptionConflicts returns an error if two options contradict each other. It also returns an error if options for
// setting up a client are given, but no client is named. asksForClients is true if the person is asked which clients to
// set up, so that no client need be named.
func (in *setupIn) checkOptionConflicts(asksForClients bool) error {
	switch {
	case in.hasOptions() && !asksForClients && !in.AssumesYes && len(in.Clients) == 0 && !in.Remove && !in.OnlyCheck:
		return usageErrorf(
			"oxbow setup all, with the same options, sets up those that are installed",
			"no client is named",
		)
	case in.Remove && in.OnlyCheck:
		return usageErrorf("leave one of them out", "--check changes nothing, and --remove does")
	case in.ClientMemoryMode != "" && (in.Remove || in.OnlyCheck):
		return usageErrorf("leave it out", "--own-memory is for setting a client up")
	}
	return nil
}

// hasOptions reports whether at least one option was given that changes how a client is set up.
func (in *setupIn) hasOptions() bool {
	return in.NoMCP || in.NoInjectionHooks || in.NoCaptureHooks || in.NoAnnotate || in.MarkHooksTrusted ||
		in.ClientMemoryMode != ""
}

// fillSetupInput sets the fields of the input that depend on this machine.
func (mem *lazyMemory) fillSetupInput(in *clients.SetupIn) (err error) {
	in.SetupMachine = mem.env.machineForSetup()
	in.Project = projectName
	if in.SetupMachine.UserHomeDir == "" || mem.env.configDir() == "" {
		return &hintedError{errors.New("the user's own directory is not known"), "set HOME"}
	}
	in.SetupMachine.ProjectDir, err = mem.env.absolutePath(".")
	if err != nil {
		return err
	}
	place, err := mem.finder.memoryPlace()
	if err != nil {
		return err
	}
	in.Home = place.ClientHome
	if mem.env.isGoRun() {
		return &hintedError{
			errors.New("this oxbow was built by go run and will be gone"),
			"go install ./cmd/oxbow, then run that one",
		}
	}
	in.PluginFileText = func(argv []string) string {
		b, err := hook.OpencodePluginSource(argv)
		if err != nil {
			panic(err) // This cannot happen, because a list of strings can always be encoded.
		}
		return string(b)
	}
	in.StartServer, in.Executable = mem.finder.probeServer, mem.env.executableForClients()
	in.ApprovedTools, in.HasOtherProgramLayout = mem.toolsWithoutConfirmation()
	return nil
}

// toolsWithoutConfirmation returns the tools that a client may call without asking the person first, for a home that
// has the layout of another memory system. These are all tools that a server of this home may list. If the home has
// oxbow's own layout, or if it cannot be opened, hasNonOxbowLayout is false and names is nil.
func (mem *lazyMemory) toolsWithoutConfirmation() (names []string, hasNonOxbowLayout bool) {
	d, other, err := mem.finder.detectLayout()
	if err != nil || !other {
		return nil, false
	}
	h, err := mem.openHome(d, readWithoutTeamAccess)
	if err != nil {
		return nil, false
	}
	sets, err := serverFlags{}.toolSets(d, h, nil)
	if err != nil {
		return nil, false
	}
	tools := serverTools(h, sets)
	if mayUseMemory(h) {
		// Add the tools that a server lists only under some conditions, for example if profiles exist. The conditions
		// may be met later.
		more := append(
			sets.SelectTools(annotations.AnnotationTools()),
			sets.SelectTools(profiles.SubAgentTools(nil))...)
		tools = verb.ToolsWithProfiles(append(tools, more...), sets)
	}
	out := unsupportedVerbs(d, h)
	for _, t := range tools {
		if !slices.Contains(out, t.Name) && !slices.Contains(names, t.Name) {
			names = append(names, t.Name)
		}
	}
	return names, true
}

// machineForSetup returns a description of the machine for package setup.
func (env *environment) machineForSetup() setup.Machine {
	return setup.Machine{
		Getenv:      env.Getenv,
		GOOS:        env.GOOS,
		UserHomeDir: env.userHomeDir(),
		StateDir:    filepath.Join(env.configDir(), "setup"),
	}
}

func projectName(dir string) string {
	name, _ := findProject(dir)
	return name
}

// mirrorClientMemory copies changes in a client's own memory into this memory, if setup was told to do so. It is
// called when a session of the client sends a report.
func (mem *lazyMemory) mirrorClientMemory(ctx context.Context, home string, r hook.CallReport) {
	if !clients.HasMirroredClients(home) {
		return
	}
	ctx, stop := context.WithTimeout(ctx, mem.env.hookTimeLimits().SessionStartContext)
	defer stop()
	in := clients.MirrorClientMemoryIn{Client: r.Client, ClientMachine: mem.env.machineForSetup(), Project: projectName}
	if e := &r.Events[0]; r.SessionStartReason == "" {
		in.SessionStart, in.ListForeignTexts = e, func(own []string) []string {
			return mem.findTextsSeenBySession(
				ctx,
				session.Caller{Client: r.Client, Session: e.Session, Dir: e.Dir, OwnFilePaths: strings.Join(own, "\n")},
			).CallsWithoutFingerprints
		}
	}
	_, _ = callVerb(ctx, mem, clients.MirrorClientMemory, in)
}

// confirmChanges shows the planned changes of files, and asks the person to confirm them.
func (env *environment) confirmChanges(setupFiles []clients.SetupFile) error {
	rows := 0
	for _, f := range setupFiles {
		rows += strings.Count(f.Diff, "\n")
	}
	if rows < env.TerminalHeight || env.TerminalHeight == 0 {
		env.showDiffs(setupFiles)
		return env.confirmDefaultYes("Change these files?")
	}
	for _, f := range setupFiles {
		added, removed := countChangedLines(f.Diff)
		fmt.Fprintf(env.Stderr, "  %-10s %s (+%d −%d lines)\n", f.Outcome, replaceHarmfulChars(f.Path), added, removed)
	}
	line, err := env.ask("Change these files? d shows the difference first [Y/n/d] ")
	if err != nil {
		return err
	}
	if strings.EqualFold(strings.TrimSpace(line), "d") {
		env.showDiffs(setupFiles)
		return env.confirmDefaultYes("Change these files?")
	}
	return checkReplyDefaultYes(line)
}

func (env *environment) showDiffs(setupFiles []clients.SetupFile) {
	for _, f := range setupFiles {
		fmt.Fprint(env.Stderr, toPrintableLines(f.Diff))
	}
}

// countChangedLines returns how many lines a unified diff adds and removes.
func countChangedLines(diff string) (added, removed int) {
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			added++
		case strings.HasPrefix(line, "-"):
			removed++
		}
	}
	return added, removed
}

// toPrintableLines makes a text safe to print on a terminal, and keeps its line breaks. If the last line has no line
// break, toPrintableLines adds one.
func toPrintableLines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		b.WriteString(replaceHarmfulChars(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// askWhichClients lists the clients, and asks whether to set up all clients that are installed and not set up yet.
// After a negative answer, it asks about each client. It returns the chosen clients.
func (mem *lazyMemory) askWhichClients(ctx context.Context, in clients.SetupIn) (chosen []string, err error) {
	out, err := callVerb(ctx, mem, clients.SetupClients, in)
	if err != nil {
		return nil, err
	}
	mem.env.showReport(out.Report(in))
	var names, titles []string
	for _, c := range out.Clients {
		if c.Installed && !c.IsSetUp {
			names, titles = append(names, c.Client), append(titles, c.Title)
		}
	}
	if len(names) == 0 || mem.env.confirmDefaultYes("Set up "+strings.Join(titles, ", ")+"?") == nil {
		return names, nil
	}
	if len(names) > 1 {
		chosen = mem.env.confirmEachClient(names, titles)
	}
	if len(chosen) == 0 {
		mem.env.printNote("nothing was changed; to set up one: oxbow setup CLIENT")
	}
	return chosen, nil
}

// confirmEachClient asks for each client whether to set it up. It returns the names of the chosen clients.
func (env *environment) confirmEachClient(names, titles []string) (chosen []string) {
	for i, name := range names {
		if env.confirm("Set up "+titles[i]+"?") == nil {
			chosen = append(chosen, name)
		}
	}
	return chosen
}

// probeTimeout is the maximum time for which a started server may take to answer.
const probeTimeout = 20 * time.Second

// clientVariableNames lists the environment variables that every client passes to its servers.
var clientVariableNames = []string{"HOME", "LANG", "PATH", "TERM", "TMPDIR", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	"SYSTEMROOT", "TEMP", "TMP", "USERNAME"}

// probeServer starts the server s as a client would, and asks it for its newest entry. It returns the server's home and
// the server's answer, or the error. If the server has created an empty home for this call, the home is removed again.
func (finder *homeFinder) probeServer(ctx context.Context, s setup.Server) setup.ServerAnswer {
	text, home, isError, err := finder.queryServer(ctx, s)
	answer := setup.ServerAnswer{Home: home, Text: text, Err: err}
	if isError {
		answer.MissingMemoryReason, answer.Mend, _ = strings.Cut(strings.TrimSpace(text), "\n")
	}
	return answer
}

// queryServer tests a configured server. It starts the server as a client would, and asks the server for the newest
// entry of the memory. If the home has the file layout of another memory program, it asks for the context instead. It
// returns the server's answer and the path of the home that the server uses. If isError is true, the answer is an error
// message from the server.
func (finder *homeFinder) queryServer(
	ctx context.Context,
	s setup.Server,
) (answer, home string, isError bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	vars, dir, err := finder.clientEnvironment(s)
	if err != nil {
		return "", "", false, err
	}
	env := &environment{Env: finder.env.Env, programName: finder.env.programName}
	env.Getenv = func(name string) string { return vars[name] }
	env.Getwd = func() (string, error) { return dir, nil }
	there := homeFinder{env: env, homeFlag: s.Home()}
	home, _, err = there.findHomeAndReason()
	if err != nil {
		return "", "", false, err
	}
	for _, made := range slices.Backward(setup.MissingDirs(home)) {
		defer func() { _ = os.Remove(made) }() // Ignore the error, because only an empty directory is removed.
	}
	argv := s.Argv()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env = dir, []string{}
	for name, v := range vars {
		c.Env = append(c.Env, name+"="+v)
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "oxbow-setup", Version: "1"}, nil).Connect(
		ctx,
		&mcp.CommandTransport{Command: c},
		nil,
	)
	if err != nil {
		return "", "", false, err
	}
	defer session.Close()
	answer, isError, err = queryNewestEntry(ctx, session)
	return answer, home, isError, err
}

// queryNewestEntry calls the server's tool "list" to read the newest entry, and returns the answer. isError is true if
// the tool reports an error. A server for a home of another layout may not have this tool. In this case,
// queryNewestEntry reads the context of the home.
func queryNewestEntry(ctx context.Context, session *mcp.ClientSession) (answer string, isError bool, err error) {
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return "", false, err
	}
	if !slices.ContainsFunc(tools.Tools, func(t *mcp.Tool) bool { return t.Name == "list" }) {
		got, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "memory://context"})
		if err != nil {
			return "", false, err
		}
		for _, part := range got.Contents {
			answer += part.Text
		}
		return answer, false, nil
	}
	got, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "list", Arguments: map[string]any{"limit": 1}})
	if err != nil {
		return "", false, err
	}
	for _, part := range got.Content {
		if t, ok := part.(*mcp.TextContent); ok {
			answer += t.Text
		}
	}
	return answer, got.IsError, nil
}

// clientEnvironment returns the environment variables and the working directory with which a client would start the
// server s. The variables are those that every client passes, and those in the server's configuration. dir is the
// user's home directory. If oxbow's home was found by searching upwards from the working directory, dir is the working
// directory.
func (finder *homeFinder) clientEnvironment(s setup.Server) (vars map[string]string, dir string, err error) {
	_, rule, err := finder.findHomeAndReason()
	if err != nil {
		return nil, "", err
	}
	dir = finder.env.userHomeDir()
	if rule == nearestHomeReason {
		dir, err = finder.env.absolutePath(".")
		if err != nil {
			return nil, "", err
		}
	}
	vars = map[string]string{}
	for _, name := range clientVariableNames {
		if v := finder.env.Getenv(name); v != "" {
			vars[name] = v
		}
	}
	maps.Copy(vars, s.Env)
	maps.Copy(vars, s.Environment)
	return vars, dir, nil
}
