// This file determines how clients are set up, and finds problems in their setup. The commands doctor, setup and setup
// --check show the same findings.

package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Levels of a finding.
const (
	LevelOK      = "ok"
	levelWarning = "warning" // the setup works, but may differ from the person's expectation
	LevelProblem = "problem" // the setup does not work
)

// Finding is a statement about the setup of some clients, with a remedy if something is wrong.
type Finding struct {
	Clients       []string `json:"clients"` // names of the clients
	Level         string   `json:"level"`
	Message       string   `json:"what"`
	Mend          string   `json:"mend,omitempty"` // what to do: a command to type, or a sentence
	IsAlwaysShown bool     `json:"-"`              // "oxbow setup" shows the finding even if nothing is wrong
}

// ServerAnswer is the answer of an oxbow MCP server that a client is configured to start. The server was asked which
// memory it uses.
type ServerAnswer struct {
	Home string // directory of the memory that the server serves
	Text string // text of the memory's newest entry, or the text that the server returns as context for a session
	Err  error  // error if the server did not answer

	// MissingMemoryReason says why the server lacks a memory, and Mend suggests a remedy. Both are "" if the server
	// has a memory.
	MissingMemoryReason, Mend string
}

// Inspection finds problems in the setup of clients. It is not safe for concurrent use.
type Inspection struct {
	Machine          Machine
	Options          Options // for a new setup; without ComparesFiles, only Executable, Home, ForProject are valid
	Home             string  // directory of the memory that this command uses
	HomeChoiceReason string  // sentence for the person that says by which rule the directory Home was chosen

	// ComparesFiles is set if all fields of Options are set as for a new setup. Only then can the clients' files be
	// compared with the files that setup would write.
	ComparesFiles bool

	// Start starts a server as a client does, and asks it about the memory. If Start is nil, no server is started.
	Start func(ctx context.Context, s Server) ServerAnswer

	cachedAnswers map[string]ServerAnswer // answers of servers, by command and environment
}

// Status describes how one client is set up.
type Status struct {
	Client             *Client
	ServerEntries      []ServerEntry
	HasRecordedChanges bool  // setup has changed files of the client, and nobody has undone these changes
	HasOxbowParts      bool  // the files contain something that belongs to oxbow
	Err                error // error about a file that cannot be read; set only if HasRecordedChanges is set

	choices *setupChoices // options of the last setup (nil if they are unknown)
	// Codex runs hooks only if the person trusts them. For other clients, isTrusted is always true.
	isTrusted      bool
	canHaveServers bool // one of the client's configuration files has a place for MCP servers
}

// isBelow reports whether path is the directory dir, or a file or directory at any depth below it.
func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// IsSetUp reports whether the client's files contain oxbow's server, hooks or other parts.
func (s *Status) IsSetUp() bool { return len(s.ServerEntries) > 0 || s.HasOxbowParts }

// Status returns how a client is set up. If Options.ForProject is set, it examines only files in the project.
func (in *Inspection) Status(c *Client) Status {
	s := Status{Client: c, ServerEntries: c.ServerEntries(in.Machine, in.Options), isTrusted: true}
	for _, f := range c.desiredFiles(in.Machine, in.Options) {
		// If the setup of a project is inspected, skip files outside the project, although setup may also change them.
		if !in.Options.ForProject || isBelow(in.Machine.ProjectDir, f.path) {
			s.inspectFile(in.Machine, &f)
		}
	}
	if c.Name == "codex" {
		s.isTrusted = hasTrustedHooks(in.Machine, in.Options)
	}
	return s
}

// inspectFile adds facts about the client file f to the status. It records whether the client can have servers, whether
// setup has recorded a change in the file, which options were chosen in that setup, and whether the file contains parts
// of oxbow. If the file contains recorded changes but cannot be read, inspectFile sets s.Err.
func (s *Status) inspectFile(w Machine, f *clientFile) {
	s.canHaveServers = s.canHaveServers || len(f.serversPath) > 0
	real, err := resolveLink(f.path)
	if err != nil {
		return
	}
	r, err := w.readRecord(real)
	if r != nil {
		s.HasRecordedChanges = true
		if r.Choices != nil {
			s.choices = r.Choices
		}
	}
	var text, base []byte
	if err == nil {
		text, err = readFile(real)
	}
	if err == nil {
		base, err = f.textWithoutOxbow(text, r)
	}
	switch {
	case err != nil && s.HasRecordedChanges:
		s.Err = fmt.Errorf("%s: %w", w.DisplayPath(f.path), err)
	case err == nil && !isEmptyConfig(text) && !bytes.Equal(text, base):
		s.HasOxbowParts = true
	}
}

// OptionsOfSetup returns the options of the client's last setup. With these options, setup would write the same files
// again. If no options were recorded, OptionsOfSetup returns in.Options.
func (in *Inspection) OptionsOfSetup(c *Client) Options {
	if s := in.Status(c); s.choices != nil {
		return s.choices.applyTo(in.Options)
	}
	return in.Options
}

// programNames returns the absolute paths of the programs that the client runs as MCP servers, and oxbow's path if
// setup has added it to the client's files. Programs without an absolute path are left out.
func (s *Status) programNames() []string {
	all := map[string]bool{}
	for _, e := range s.ServerEntries {
		all[e.Server.Argv()[0]] = true
	}
	if s.choices != nil && s.HasOxbowParts {
		all[s.choices.OxbowExecutable] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(p string) bool { return !filepath.IsAbs(p) })
}

// clientSetupFault is a problem with the setup of one client. Faults of several clients with the same text become one
// finding.
type clientSetupFault struct {
	level   string
	message string // sentence in which {clients} stands for the titles of the clients
	remedy  func(all []Status) string
}

// sharedClientProblem is a setup problem that several AI clients have in common. The problem is either in the user's
// files or in a project's files.
type sharedClientProblem struct {
	clientSetupFault
	statuses   []Status
	inspection *Inspection
}

// clientTitles returns the clients' titles as part of a sentence, such as "Claude Code and Codex in this project".
func (f *sharedClientProblem) clientTitles() string {
	_, titles := clientNames(f.statuses)
	return joinWithAnd(titles) + f.inspection.inspectedFilesText()
}

// toFinding converts the problem of some clients to a finding. If a project's files have the same problem, the
// parameter projectProblem describes the project's problem, which becomes part of the finding. Otherwise the parameter
// projectProblem is nil. The remedy for the project comes first, because a setup of the user's files fails as long as a
// project file has a problem.
func (f *sharedClientProblem) toFinding(projectProblem *sharedClientProblem) Finding {
	names, _ := clientNames(f.statuses)
	clients, mend := f.clientTitles(), f.remedy(f.statuses)
	if projectProblem != nil {
		clients += ", and " + projectProblem.clientTitles()
		mend = projectProblem.remedy(projectProblem.statuses) + " && " + mend
		for _, s := range projectProblem.statuses {
			if !slices.Contains(names, s.Client.Name) {
				names = append(names, s.Client.Name)
			}
		}
	}
	return Finding{names, f.level, strings.ReplaceAll(f.message, "{clients}", clients), mend, true}
}

// hasSameMessage reports whether one sentence can describe the problems f and other. Their messages must be the same
// and begin with "{clients}: ". This placeholder is replaced by the titles of the clients that have the problem.
func (f *sharedClientProblem) hasSameMessage(other *sharedClientProblem) bool {
	return f.message == other.message && strings.HasPrefix(f.message, "{clients}: ")
}

// Findings returns findings about all clients that are set up. Problems come first, and clients without problems
// follow. If several clients have the same problem, or if both the user's and the project's files have it, the problem
// is a single finding.
//
// If the inspection is not about a project, Findings also checks the project in Machine.ProjectDir. Problems that only
// the project's files have are at the end of the result. For this check, Findings does not start the project's servers,
// because other people may have written the project's files.
func (in *Inspection) Findings(ctx context.Context) []Finding {
	faults, correct := in.findSharedClientProblems(ctx)
	var inProject []*sharedClientProblem
	if !in.Options.ForProject && in.Machine.isDirInProject() {
		project := *in
		project.Options.ForProject, project.Start = true, nil
		inProject, _ = project.findSharedClientProblems(ctx)
	}
	all := []Finding{}
	for _, f := range faults {
		var same *sharedClientProblem
		if i := slices.IndexFunc(inProject, f.hasSameMessage); i >= 0 {
			same = inProject[i]
			inProject = slices.Delete(inProject, i, i+1)
		}
		all = append(all, f.toFinding(same))
	}
	all = append(all, correct...)
	for _, f := range inProject {
		all = append(all, f.toFinding(nil))
	}
	return all
}

// isDirInProject reports whether the current directory may belong to a project. It returns false for the user's home
// directory.
func (w Machine) isDirInProject() bool {
	return w.ProjectDir != "" && filepath.Clean(w.ProjectDir) != filepath.Clean(w.UserHomeDir)
}

// findSharedClientProblems checks the clients that are set up. The result problems contains the problems, and a problem
// with the same message in several clients is contained only once. The result findings contains a finding for each
// client without problems, and a finding about clients whose program is not in PATH. If in.Options.ForProject is set,
// the files in the project are checked. Otherwise the files of the user are checked.
func (in *Inspection) findSharedClientProblems(
	ctx context.Context,
) (problems []*sharedClientProblem, findings []Finding) {
	var absent []Status
	for _, c := range allClients {
		s := in.Status(c)
		isSetUp := s.HasRecordedChanges || (!in.Options.ForProject && s.IsSetUp())
		if !isSetUp {
			continue
		}
		if c.Program != "" && !c.IsProgramOnPath(in.Machine) {
			absent = append(absent, s)
		}
		faults := in.findClientFaults(ctx, &s)
		for _, f := range faults {
			i := slices.IndexFunc(problems, func(j *sharedClientProblem) bool { return j.message == f.message })
			if i < 0 {
				i = len(problems)
				problems = append(problems, &sharedClientProblem{clientSetupFault: f, inspection: in})
			}
			problems[i].statuses = append(problems[i].statuses, s)
		}
		if len(faults) == 0 {
			mend := in.outdatedFilesText(&s)
			findings = append(
				findings,
				Finding{[]string{c.Name}, LevelOK, in.describeWorkingSetup(&s), mend, mend != ""},
			)
		}
	}
	if len(absent) > 0 {
		names, titles := clientNames(absent)
		findings = append(findings, Finding{names, LevelOK, "set up, although the program was not found in PATH: " +
			joinWithAnd(titles), "", true})
	}
	return problems, findings
}

// inspectedFilesText returns " in this project" if the inspected files belong to a project, and otherwise "". The
// caller appends the result to the titles of clients, as in "Claude Code and Codex in this project".
func (in *Inspection) inspectedFilesText() string {
	if in.Options.ForProject {
		return " in this project"
	}
	return ""
}

// clientNames returns the name and the title of each client.
func clientNames(all []Status) (names, titles []string) {
	for _, s := range all {
		names, titles = append(names, s.Client.Name), append(titles, s.Client.Title)
	}
	return names, titles
}

// findClientFaults returns the problems of a client that is set up, or that was set up.
func (in *Inspection) findClientFaults(ctx context.Context, s *Status) (all []clientSetupFault) {
	isRepeated := func(of []Status) string { return in.setupCommand(of) }
	add := func(level string, mend func([]Status) string, format string, args ...any) {
		all = append(all, clientSetupFault{level, fmt.Sprintf(format, args...), mend})
	}
	switch {
	case s.Err != nil:
		add(LevelProblem, func(of []Status) string {
			return "correct the file, then " + in.setupCommand(of)
		}, "oxbow is set up for {clients}, and a file cannot be read: %v", s.Err)
		return all
	case !s.IsSetUp():
		add(
			levelWarning,
			isRepeated,
			"oxbow was set up for {clients}, and nothing of it is left in the files (if that was meant: %s)",
			in.removalCommand(s),
		)
		return all
	}
	if s.lacksServer() {
		add(levelWarning, isRepeated, "{clients}: hooks of oxbow are set up, and its server is no longer in the files")
	}
	if in.lacksHooks(s) {
		add(
			levelWarning,
			isRepeated,
			"{clients}: the hooks that setup wrote are no longer in the files: nothing is kept, "+
				"and nothing is shown by itself",
		)
	}
	isGone := false
	for _, p := range s.programNames() {
		if fi, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
			isGone = true
			add(LevelProblem, isRepeated, "{clients}: the program is gone: %s", p)
		} else if err == nil && in.isDifferentProgram(fi) {
			add(levelWarning, isRepeated, "{clients}: another oxbow is set up, %s; this one is %s", p,
				in.Options.Executable)
		}
	}
	if message := in.explainWrongHome(s); message != "" {
		add(levelWarning, isRepeated, "%s", message)
	}
	if !s.isTrusted {
		add(levelWarning, func(of []Status) string { return in.setupCommand(of, "--trust") },
			"{clients} runs no hook of oxbow before you trust it, here or with /hooks there: nothing is kept, and "+
				"nothing is shown by itself")
	}
	if isGone {
		return all
	}
	return append(all, in.serverFaults(ctx, s)...)
}

// serverFaults starts the first server in s.ServerEntries, asks it for its memory, and returns a fault if the server
// does not answer or has no memory. It returns nil if there is no server entry, or if in.Start is nil, which means that
// this inspection does not start servers.
func (in *Inspection) serverFaults(ctx context.Context, s *Status) []clientSetupFault {
	if len(s.ServerEntries) == 0 || in.Start == nil {
		return nil
	}
	server := s.ServerEntries[0].Server
	switch a := in.AskServerForMemory(ctx, server); {
	case a.Err != nil:
		message := fmt.Sprintf("{clients}: the server %s does not answer: %v", strings.Join(server.Argv(), " "), a.Err)
		return []clientSetupFault{{LevelProblem, message, func(of []Status) string { return in.setupCommand(of) }}}
	case a.MissingMemoryReason != "":
		return []clientSetupFault{{LevelProblem, "{clients}: the server answers that it has no memory: " +
			a.MissingMemoryReason, func([]Status) string {
			return a.Mend
		}}}
	}
	return nil
}

// lacksServer reports whether setup wrote an entry for oxbow's MCP server into the client's configuration files, but
// the files no longer contain this entry.
func (s *Status) lacksServer() bool {
	return s.canHaveServers && s.choices != nil && !s.choices.NoMCP && len(s.ServerEntries) == 0
}

// lacksHooks reports whether the client's files no longer contain any hook of oxbow, although a setup with the recorded
// options would write hooks. It returns false if no options are recorded, or if such a setup would fail. In the
// inspection of a project, it ignores files outside the project.
func (in *Inspection) lacksHooks(s *Status) bool {
	wouldWrite := false
	for _, change := range in.planRepeatedSetup(s) {
		if in.Options.ForProject && !isBelow(in.Machine.ProjectDir, change.Path) {
			continue
		}
		call := hookCommandPattern(s.Client.Name)
		if call.Match(change.Before) {
			return false
		}
		wouldWrite = wouldWrite || call.Match(change.After)
	}
	return wouldWrite
}

// hookCommandPattern returns a pattern for the command of a hook in a client's file. The arguments may be in the same
// string as the command or in separate strings.
func hookCommandPattern(client string) *regexp.Regexp {
	return regexp.MustCompile(`\bhook\W+` + regexp.QuoteMeta(client) + `\b`)
}

// planRepeatedSetup returns the changes that a setup with the same options would make now. It returns nil if these
// options are unknown, if the inspection does not compare files, or if the setup would fail.
func (in *Inspection) planRepeatedSetup(s *Status) []*Change {
	if s.choices == nil || !in.ComparesFiles {
		return nil
	}
	changes, err := s.Client.Plan(in.Machine, s.choices.applyTo(in.Options))
	if err != nil {
		return nil
	}
	return changes
}

// isDifferentProgram reports whether a program differs from the program that is running.
func (in *Inspection) isDifferentProgram(program os.FileInfo) bool {
	this, err := os.Stat(in.Options.Executable)
	return err == nil && !os.SameFile(this, program)
}

// AskServerForMemory starts a server and returns its answer. A server with the same command and environment is started
// only once.
func (in *Inspection) AskServerForMemory(ctx context.Context, s Server) ServerAnswer {
	key := fmt.Sprintf("%q %q %q", s.Argv(), s.Env, s.Environment)
	a, asked := in.cachedAnswers[key]
	if !asked {
		a = in.Start(ctx, s)
		if in.cachedAnswers == nil {
			in.cachedAnswers = map[string]ServerAnswer{}
		}
		in.cachedAnswers[key] = a
	}
	return a
}

// explainWrongHome checks whether the client's servers use in.Home, the memory directory (home) of the running command.
// If they may use another one, it returns a sentence that says so:
//   - All servers are configured with other homes.
//   - A server is configured without a home, so that it chooses one itself, and in.Home was chosen with an option.
//
// If a server is configured with in.Home, or if nothing is wrong, explainWrongHome returns "".
func (in *Inspection) explainWrongHome(s *Status) string {
	var otherHomes []string
	finds := false
	for _, e := range s.ServerEntries {
		switch home := e.Server.Home(); {
		case home == "":
			finds = true
		case sameFile(home, in.Home):
			return ""
		default:
			otherHomes = append(otherHomes, home)
		}
	}
	switch {
	case finds && in.Options.Home != "":
		return "{clients}: oxbow is set up without --home and finds its home by itself, which may not be this one, " +
			"chosen by " + in.HomeChoiceReason
	case !finds && len(otherHomes) > 0:
		return "{clients}: oxbow is set up for the home " + strings.Join(otherHomes, ", ") + ", not for this one"
	}
	return ""
}

// describeWorkingSetup describes the setup of a client without problems.
func (in *Inspection) describeWorkingSetup(s *Status) string {
	parts := s.Client.Title
	switch {
	case len(s.ServerEntries) == 0:
		parts += " runs oxbow's hooks, and no server"
	case s.ServerEntries[0].Server.Home() == "":
		parts += " starts oxbow on the home that it finds"
	default:
		parts += " starts oxbow on this home"
	}
	return parts
}

// outdatedFilesText compares the client's files with the files that setup would write now. If the files differ,
// because another version of oxbow or a person wrote different content, it returns a text that says so. Otherwise it
// returns "".
func (in *Inspection) outdatedFilesText(s *Status) string {
	if !slices.ContainsFunc(in.planRepeatedSetup(s), func(c *Change) bool { return !c.IsUnchanged() }) {
		return ""
	}
	return "its files are not as this oxbow writes them: " + in.setupCommand([]Status{*s})
}

// setupCommand returns a shell command that sets up the clients again, with the same options as before. The parameter
// extraFlags contains flags to add. If clients were set up with different options, the command consists of several
// calls of "oxbow setup".
func (in *Inspection) setupCommand(all []Status, extraFlags ...string) string {
	var order []string
	names := map[string][]string{}
	for _, s := range all {
		words := in.setupFlags(&s)
		for _, flag := range extraFlags {
			if !slices.Contains(words, flag) {
				words = append(words, flag)
			}
		}
		flags := strings.Join(words, " ")
		if names[flags] == nil {
			order = append(order, flags)
		}
		names[flags] = append(names[flags], s.Client.Name)
	}
	for i, flags := range order {
		order[i] = strings.TrimSpace("oxbow setup " + strings.Join(names[flags], " ") + " " + flags)
	}
	return strings.Join(order, " && ")
}

// removalCommand returns the command that removes oxbow from a client's files.
func (in *Inspection) removalCommand(s *Status) string {
	command := "oxbow setup " + s.Client.Name
	if in.Options.ForProject {
		command += " --scope project"
	}
	return command + " --remove"
}

// setupFlags returns the flags of "oxbow setup" that repeat the client's last setup.
func (in *Inspection) setupFlags(s *Status) (flags []string) {
	if in.Options.ForProject {
		flags = append(flags, "--scope project")
	}
	if s.choices == nil {
		return flags
	}
	flags = append(flags, s.choices.flagNames()...)
	dir := ""
	if in.Options.ForProject {
		dir = in.Machine.ProjectDir
	}
	mayAnnotate := s.Client.CanAnnotate() && !s.choices.NoCapture
	if mayAnnotate && !fileExists(in.Machine.annotateEditsMarkerPath(s.Client.Name, dir)) {
		flags = append(flags, "--no-annotate")
	}
	return flags
}

// joinWithAnd joins words for a sentence, for example to "a, b and c".
func joinWithAnd(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
