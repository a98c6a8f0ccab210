// This file determines how clients are set up, and finds problems in it. The commands doctor, setup
// and setup --check show the same findings.

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
	levelWarning = "warning" // the setup works, but perhaps not as the person expects
	LevelProblem = "problem" // the setup does not work
)

// Finding is a statement about some clients, with a remedy.
type Finding struct {
	Clients     []string `json:"clients"` // names of the clients
	Level       string   `json:"level"`
	Message     string   `json:"what"`
	Mend        string   `json:"mend,omitempty"` // remedy: a command to type, or a sentence
	AlwaysShown bool     `json:"-"`              // setup shows it even if nothing is wrong
}

// ServerAnswer is the answer of a server to a question about its memory.
type ServerAnswer struct {
	Home string // home that the server serves
	Text string // text of the newest entry, or the context
	Err  error  // error if the server does not answer

	// NoMemoryReason is the reason why the server has no memory, and Mend is the remedy. Both are "" if
	// the server has a memory.
	NoMemoryReason, Mend string
}

// Inspection finds problems in the setup of clients. It is not safe for concurrent use.
type Inspection struct {
	World   Machine
	Options Options // Executable, Home and Project as a new setup would use them
	Home    string  // home of this command
	Rule    string  // how the home was chosen, as a sentence

	// Compares is set if Options has all values that setup would use. The files can then be
	// compared with the files that setup would write.
	Compares bool

	// Start starts a server like a client, and asks the server about the server's memory. If Start
	// is nil, no servers are started.
	Start func(ctx context.Context, s Server) ServerAnswer

	cachedAnswers map[string]ServerAnswer // by command and environment
}

// Status describes how one client is set up.
type Status struct {
	Client        *Client
	Servers       []Entry
	IsRecorded    bool  // setup has changed files of the client, and the changes have not been removed
	HasOxbowParts bool  // the files contain a part that belongs to oxbow
	Err           error // error of a file that cannot be read; set only if IsRecorded

	choices        *setupChoices // choices at the time of setup (nil if they are unknown)
	isTrusted      bool          // the client runs the hooks
	canHaveServers bool          // one of the files can contain servers
}

// isBelow reports whether a path is in a directory.
func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// IsSetUp reports whether the client uses oxbow.
func (s *Status) IsSetUp() bool { return len(s.Servers) > 0 || s.HasOxbowParts }

// Status returns how a client is set up.
func (in *Inspection) Status(c *Client) Status {
	s := Status{Client: c, Servers: c.ServerEntries(in.World, in.Options), isTrusted: true}
	for _, f := range c.desiredFiles(in.World, in.Options) {
		// skip the user's files, which a project's setup also changes
		if !in.Options.Project || isBelow(in.World.Dir, f.path) {
			s.inspectFile(in.World, &f)
		}
	}
	if c.Name == "codex" {
		s.isTrusted = hasTrustedHooks(in.World, in.Options)
	}
	return s
}

// inspectFile adds to the status what one of the client's files shows: whether setup has recorded the file, with which
// choices, and whether the file contains parts of oxbow.
func (s *Status) inspectFile(w Machine, f *clientFile) {
	s.canHaveServers = s.canHaveServers || len(f.serversPath) > 0
	real, err := resolveLink(f.path)
	if err != nil {
		return
	}
	r, err := w.readRecord(real)
	if r != nil {
		s.IsRecorded = true
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
	case err != nil && s.IsRecorded:
		s.Err = fmt.Errorf("%s: %w", w.DisplayPath(f.path), err)
	case err == nil && !isEmptyConfig(text) && !bytes.Equal(text, base):
		s.HasOxbowParts = true
	}
}

// ChosenOptions returns the options with which setup would produce the present setup of the client.
func (in *Inspection) ChosenOptions(c *Client) Options {
	if s := in.Status(c); s.choices != nil {
		return s.choices.applyTo(in.Options)
	}
	return in.Options
}

// programNames returns the absolute paths of the programs that the client starts.
func (s *Status) programNames() []string {
	all := map[string]bool{}
	for _, e := range s.Servers {
		all[e.Server.Argv()[0]] = true
	}
	if s.choices != nil && s.HasOxbowParts {
		all[s.choices.Executable] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(p string) bool { return !filepath.IsAbs(p) })
}

// setupFault is a problem of a single client. Faults with the same text become one finding.
type setupFault struct {
	level   string
	message string // contains {clients} in place of the clients' titles
	remedy  func(all []Status) string
}

// clientsFault is a problem that some clients have in the user's files or in a project's files.
type clientsFault struct {
	setupFault
	statuses   []Status
	inspection *Inspection
}

// titles returns the titles of the clients for a sentence, such as "Claude Code and Codex in this project".
func (f *clientsFault) titles() string {
	_, titles := clientNames(f.statuses)
	return joinWithAnd(titles) + f.inspection.scopeText()
}

// finding returns the fault as a finding. The project's fault (nil if there is none) is the same problem in the
// project's files. Its remedy comes first, because a setup of the user's files fails as long as a file of the project
// has a problem.
func (f *clientsFault) finding(project *clientsFault) Finding {
	names, _ := clientNames(f.statuses)
	clients, mend := f.titles(), f.remedy(f.statuses)
	if project != nil {
		clients += ", and " + project.titles()
		mend = project.remedy(project.statuses) + " && " + mend
		for _, s := range project.statuses {
			if !slices.Contains(names, s.Client.Name) {
				names = append(names, s.Client.Name)
			}
		}
	}
	return Finding{names, f.level, strings.ReplaceAll(f.message, "{clients}", clients), mend, true}
}

// hasSameMessage reports whether two faults can be described by one sentence, which begins with the clients' titles
// and a colon.
func (f *clientsFault) hasSameMessage(other *clientsFault) bool {
	return f.message == other.message && strings.HasPrefix(f.message, "{clients}: ")
}

// Findings returns the findings about the clients that are set up. Problems come first. Equal problems
// of several clients, and of the user's and the project's files, become one finding.
//
// Unless the inspection is about a project, Findings also checks the setup of the project in World.Dir,
// and appends the problems that it finds there. It does not start servers of the project, because
// the project's files may come from other people.
func (in *Inspection) Findings(ctx context.Context) []Finding {
	faults, correct := in.findInScope(ctx)
	var inProject []*clientsFault
	if !in.Options.Project && in.World.isInProject() {
		project := *in
		project.Options.Project, project.Start = true, nil
		inProject, _ = project.findInScope(ctx)
	}
	all := []Finding{}
	for _, f := range faults {
		var same *clientsFault
		if i := slices.IndexFunc(inProject, f.hasSameMessage); i >= 0 {
			same = inProject[i]
			inProject = slices.Delete(inProject, i, i+1)
		}
		all = append(all, f.finding(same))
	}
	all = append(all, correct...)
	for _, f := range inProject {
		all = append(all, f.finding(nil))
	}
	return all
}

// isInProject reports whether the current directory may belong to a project, because it is not the user's home
// directory.
func (w Machine) isInProject() bool {
	return w.Dir != "" && filepath.Clean(w.Dir) != filepath.Clean(w.User)
}

// findInScope returns the faults in the user's files, and the findings about correct clients. If the inspection
// is about a project, it examines the project's files that setup changed.
func (in *Inspection) findInScope(ctx context.Context) (wrong []*clientsFault, correct []Finding) {
	var absent []Status
	for _, c := range allClients {
		s := in.Status(c)
		isSetUp := s.IsRecorded || (!in.Options.Project && s.IsSetUp())
		if !isSetUp {
			continue
		}
		if c.Program != "" && !c.IsOnPath(in.World) {
			absent = append(absent, s)
		}
		faults := in.findFaults(ctx, &s)
		for _, f := range faults {
			i := slices.IndexFunc(wrong, func(j *clientsFault) bool { return j.message == f.message })
			if i < 0 {
				i = len(wrong)
				wrong = append(wrong, &clientsFault{setupFault: f, inspection: in})
			}
			wrong[i].statuses = append(wrong[i].statuses, s)
		}
		if len(faults) == 0 {
			mend := in.outdatedFilesText(&s)
			correct = append(correct, Finding{[]string{c.Name}, LevelOK, in.describeSetup(&s), mend, mend != ""})
		}
	}
	if len(absent) > 0 {
		names, titles := clientNames(absent)
		correct = append(correct, Finding{names, LevelOK, "set up, although the program was not found in PATH: " +
			joinWithAnd(titles), "", true})
	}
	return wrong, correct
}

// scopeText returns a text that names the files to which the findings refer. It is printed after
// the titles of the clients.
func (in *Inspection) scopeText() string {
	if in.Options.Project {
		return " in this project"
	}
	return ""
}

// clientNames returns the names and the titles of clients.
func clientNames(all []Status) (names, titles []string) {
	for _, s := range all {
		names, titles = append(names, s.Client.Name), append(titles, s.Client.Title)
	}
	return names, titles
}

// findFaults returns the problems of a client that is or was set up.
func (in *Inspection) findFaults(ctx context.Context, s *Status) (all []setupFault) {
	isRepeated := func(of []Status) string { return in.setupCommand(of) }
	add := func(level string, mend func([]Status) string, format string, args ...any) {
		all = append(all, setupFault{level, fmt.Sprintf(format, args...), mend})
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
			in.removeCommand(s),
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
		} else if err == nil && in.isOtherProgram(fi) {
			add(levelWarning, isRepeated, "{clients}: another oxbow is set up, %s; this one is %s", p,
				in.Options.Executable)
		}
	}
	if message := in.wrongHomeText(s); message != "" {
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

// serverFaults starts the client's server and returns the problems in its answer. It returns nil if
// the client has no server, or if this inspection does not start servers.
func (in *Inspection) serverFaults(ctx context.Context, s *Status) []setupFault {
	if len(s.Servers) == 0 || in.Start == nil {
		return nil
	}
	server := s.Servers[0].Server
	switch a := in.AskServer(ctx, server); {
	case a.Err != nil:
		message := fmt.Sprintf("{clients}: the server %s does not answer: %v", strings.Join(server.Argv(), " "), a.Err)
		return []setupFault{{LevelProblem, message, func(of []Status) string { return in.setupCommand(of) }}}
	case a.NoMemoryReason != "":
		return []setupFault{{LevelProblem, "{clients}: the server answers that it has no memory: " +
			a.NoMemoryReason, func([]Status) string {
			return a.Mend
		}}}
	}
	return nil
}

// lacksServer reports whether the files no longer contain the server that setup wrote.
func (s *Status) lacksServer() bool {
	return s.canHaveServers && s.choices != nil && !s.choices.NoMCP && len(s.Servers) == 0
}

// lacksHooks reports whether no file contains the hooks that setup would write with the same choices.
func (in *Inspection) lacksHooks(s *Status) bool {
	wouldWrite := false
	for _, change := range in.repeatedSetupChanges(s) {
		if in.Options.Project && !isBelow(in.World.Dir, change.Path) {
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

// hookCommandPattern matches a hook's command in a client's file, with its arguments in one string or in several.
func hookCommandPattern(client string) *regexp.Regexp {
	return regexp.MustCompile(`\bhook\W+` + regexp.QuoteMeta(client) + `\b`)
}

// repeatedSetupChanges returns the changes that setup would make now with the same choices, or nil if they are
// unknown.
func (in *Inspection) repeatedSetupChanges(s *Status) []*Change {
	if s.choices == nil || !in.Compares {
		return nil
	}
	changes, err := s.Client.Plan(in.World, s.choices.applyTo(in.Options))
	if err != nil {
		return nil
	}
	return changes
}

// isOtherProgram reports whether a program is different from the running one.
func (in *Inspection) isOtherProgram(program os.FileInfo) bool {
	this, err := os.Stat(in.Options.Executable)
	return err == nil && !os.SameFile(this, program)
}

// AskServer starts a server and returns its answer. For each combination of command and environment, it
// starts the server only once.
func (in *Inspection) AskServer(ctx context.Context, s Server) ServerAnswer {
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

// wrongHomeText returns the problem with the home that the client's servers use, or "".
func (in *Inspection) wrongHomeText(s *Status) string {
	var otherHomes []string
	finds := false
	for _, e := range s.Servers {
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
			"chosen by " + in.Rule
	case !finds && len(otherHomes) > 0:
		return "{clients}: oxbow is set up for the home " + strings.Join(otherHomes, ", ") + ", not for this one"
	}
	return ""
}

// describeSetup describes the setup of a client without problems.
func (in *Inspection) describeSetup(s *Status) string {
	parts := s.Client.Title
	switch {
	case len(s.Servers) == 0:
		parts += " runs oxbow's hooks, and no server"
	case s.Servers[0].Server.Home() == "":
		parts += " starts oxbow on the home that it finds"
	default:
		parts += " starts oxbow on this home"
	}
	return parts
}

// outdatedFilesText compares the client's files with the files that setup would write now. It returns
// the problem if they differ, because another version of oxbow or a user changed the files,
// otherwise "".
func (in *Inspection) outdatedFilesText(s *Status) string {
	if !slices.ContainsFunc(in.repeatedSetupChanges(s), func(c *Change) bool { return !c.IsUnchanged() }) {
		return ""
	}
	return "its files are not as this oxbow writes them: " + in.setupCommand([]Status{*s})
}

// setupCommand returns the commands that set clients up again with the same options.
func (in *Inspection) setupCommand(all []Status, more ...string) string {
	var order []string
	names := map[string][]string{}
	for _, s := range all {
		words := in.setupFlags(&s)
		for _, flag := range more {
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

// removeCommand returns the command that removes oxbow from a client.
func (in *Inspection) removeCommand(s *Status) string {
	command := "oxbow setup " + s.Client.Name
	if in.Options.Project {
		command += " --scope project"
	}
	return command + " --remove"
}

// setupFlags returns the flags of the command that set up a client.
func (in *Inspection) setupFlags(s *Status) (all []string) {
	if in.Options.Project {
		all = append(all, "--scope project")
	}
	if s.choices == nil {
		return all
	}
	all = append(all, s.choices.flagNames()...)
	dir := ""
	if in.Options.Project {
		dir = in.World.Dir
	}
	mayAnnotate := s.Client.CanAnnotate() && !s.choices.NoCapture
	if mayAnnotate && !fileExists(in.World.annotateMarkerPath(s.Client.Name, dir)) {
		all = append(all, "--no-annotate")
	}
	return all
}

// joinWithAnd joins words with commas and "and", for example "a, b and c".
func joinWithAnd(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
