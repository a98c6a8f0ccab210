// This file implements the verb setup, which configures agents' clients to use the memory, and checks their
// configuration.

package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/setup"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/injection"
	"github.com/oxbow-memory/oxbow/internal/verb/output"
)

// SetupIn is the argument of SetupClients.
type SetupIn struct {
	Clients          []string `json:"clients,omitempty"     flag:"-" usage:"The clients, or all."`
	Scope            string   `json:"scope,omitempty"                usage:"Change files of the user, or of this project."                                                                enum:"user,project"`
	NoMCP            bool     `json:"no_mcp,omitempty"               usage:"Leave out the server."`
	NoInjectionHooks bool     `json:"no_inject,omitempty"            usage:"Leave out the hooks that show texts to the agent."`
	NoCaptureHooks   bool     `json:"no_capture,omitempty"           usage:"Leave out the hooks that record sessions."`
	NoAnnotate       bool     `json:"no_annotate,omitempty"          usage:"Do not store the reasons for agents' edits next to the code."`
	ClientMemoryMode string   `json:"own_memory,omitempty"           usage:"Leave the client's own memory unchanged, copy it into this memory now and during sessions, or switch it off." enum:"leave,mirror,off"`
	MarkHooksTrusted bool     `json:"trust,omitempty"                usage:"Mark the hooks as trusted if the client (Codex) asks for it."`
	OnlyCheck        bool     `json:"check,omitempty"                usage:"Change nothing; show what is set up, and start the server."`
	Remove           bool     `json:"remove,omitempty"               usage:"Restore the files, or remove oxbow's settings from them."`
	DryRun           bool     `json:"dry_run,omitempty"              usage:"Show what would change, and change nothing."`

	SetupMachine setup.Machine           `json:"-"`
	Project      func(dir string) string `json:"-"` // returns the name of the project to which a directory belongs
	Executable   string                  `json:"-"` // path of the program that clients start
	// home that is written into the clients' configuration (may be empty)
	Home                  string `json:"-"`
	HasOtherProgramLayout bool   `json:"-"` // the home has another program's layout and tools
	// ApprovedTools are the tools that a client may call without asking the user. They are set only if the home's
	// server offers tools of another memory program.
	ApprovedTools  []string                    `json:"-"`
	PluginFileText func(argv []string) string  `json:"-"`
	Confirm        func(all []SetupFile) error `json:"-"` // asks the user before anything is written (may be nil)

	// StartServer starts a server as the client would.
	StartServer func(ctx context.Context, s setup.Server) setup.ServerAnswer `json:"-"`
}

// SetupOut is the result of SetupClients.
type SetupOut struct {
	DryRun  bool          `json:"dry_run,omitempty"`
	Clients []SetupClient `json:"clients"`

	// Findings are the problems of the clients that are set up, as the command doctor reports them.
	Findings []setup.Finding `json:"findings,omitempty"`

	// files that still contain oxbow after a removal, such as files of projects
	FilesLeftAfterRemoval []string `json:"left,omitempty"`
}

// Failed reports whether a client could not be set up, or does not work.
func (o SetupOut) Failed() bool {
	return slices.ContainsFunc(o.Findings, func(f setup.Finding) bool {
		return f.Level == setup.LevelProblem
	}) || slices.ContainsFunc(o.Clients, func(c SetupClient) bool {
		return c.Problem != "" || (c.StartedServer != nil && c.StartedServer.Problem != "")
	})
}

// SetupClient is the result for one client. If the call names no client, it only says whether the client is installed
// and set up.
type SetupClient struct {
	Client        string         `json:"client"`
	Title         string         `json:"title"`
	Installed     bool           `json:"installed"`
	IsSetUp       bool           `json:"set_up"`
	Files         []SetupFile    `json:"files,omitempty"`
	StartedServer *StartedServer `json:"server,omitempty"`
	// name of the client's built-in memory, if that memory remains in use beside oxbow
	EnabledClientMemory string `json:"memory,omitempty"`
	IsMemoryMirrored    bool   `json:"mirrored,omitempty"`
	// hooks record why the agent edits lines, in every repository
	RecordsEditReasons bool `json:"annotates,omitempty"`
	AddedNotes         int  `json:"added,omitempty"` // number of notes that mirroring has added
	UpdatedNotes       int  `json:"updated,omitempty"`
	// number of added and updated notes that models do not get before a person approves them
	QuarantinedNotes int       `json:"held,omitempty"`
	Notes            []string  `json:"notes,omitempty"`
	Problem          string    `json:"problem,omitempty"` // why setup of this client ended early, or ""
	Mend             verb.Note `json:"mend,omitzero"`
}

// SetupFile describes the outcome for a client's file.
type SetupFile struct {
	Path    string `json:"path"`
	Outcome string `json:"did"` // outcome: "created", "changed", "removed" or "unchanged"
	Diff    string `json:"diff,omitempty"`
}

// StartedServer describes the server that the client starts, and its answer.
type StartedServer struct {
	Command        []string `json:"command"`
	Home           string   `json:"home,omitempty"`
	AnswerOfServer string   `json:"answer,omitempty"`
	// number of entries in the server's memory (nil if it is unknown)
	Entries *int   `json:"entries,omitempty"`
	Problem string `json:"problem,omitempty"`

	HasNoOxbowMemory bool `json:"-"` // the server says that no memory exists in its home
}

// SetupClients sets up clients, removes oxbow from their configuration, or checks the configuration. If in.Clients is
// empty, a removal or a check applies to all clients that are set up, and any other call only lists the clients. If a
// call for several clients fails for one client, the error is in that client's SetupClient, and the remaining clients
// are processed.
func SetupClients(ctx context.Context, w *verb.Workspace, in SetupIn) (SetupOut, error) {
	out := SetupOut{DryRun: in.DryRun, Clients: []SetupClient{}}
	chosen, look, err := in.chooseClients(w)
	if err != nil {
		return out, err
	}
	for _, c := range chosen {
		s := in.describeClient(c)
		switch {
		// Change nothing, because only the state of the clients was asked for. It is in s already.
		case in.isListOnly():
		case len(in.Clients) == 0 && !s.IsSetUp && !c.HasSetupRecord(in.SetupMachine, look.Options):
			continue
		default:
			err = in.setUpClient(ctx, w, c, look, &s)
		}
		err = s.recordError(err, len(chosen) == 1 || ctx.Err() != nil)
		if err != nil {
			return out, err
		}
		out.Clients = append(out.Clients, s)
	}
	if !in.Remove && !in.DryRun {
		out.Findings = clientFindings(ctx, look, chosen)
	}
	removesAll := in.Remove && len(in.Clients) == 0
	if removesAll && !in.DryRun {
		out.FilesLeftAfterRemoval = in.remainingFiles(out.Clients)
	}
	return out, nil
}

// remainingFiles returns the files that setup has changed and for which it still has a record. It leaves out the files
// of clients that have a problem.
func (in *SetupIn) remainingFiles(clientResults []SetupClient) []string {
	o := in.setupOptions()
	return slices.DeleteFunc(in.SetupMachine.ChangedFilePaths(), func(path string) bool {
		return slices.ContainsFunc(clientResults, func(s SetupClient) bool {
			return s.Problem != "" && slices.Contains(setup.FindClient(s.Client).FilePaths(in.SetupMachine, o), path)
		})
	})
}

// isListOnly reports whether the call only lists the clients and their state.
func (in *SetupIn) isListOnly() bool { return len(in.Clients) == 0 && !in.Remove && !in.OnlyCheck }

// chooseClients checks the arguments and returns the clients to process. It also returns an Inspection, with which the
// configuration of these clients can be examined. If the call only lists the clients, the Inspection starts no servers.
func (in *SetupIn) chooseClients(w *verb.Workspace) ([]*setup.Client, *setup.Inspection, error) {
	chosen, err := in.chosenClients()
	if err == nil {
		err = in.checkMirrorAllowed(w)
	}
	if err != nil {
		return nil, nil, err
	}
	place, err := w.FindPlace()
	if err != nil && !in.Remove { // Oxbow can be removed even if its home cannot be read.
		return nil, nil, err
	}
	look := in.Inspection(place)
	if in.isListOnly() {
		look.Start = nil
	}
	return chosen, look, nil
}

// clientFindings returns the findings about the chosen clients.
func clientFindings(ctx context.Context, inspection *setup.Inspection, chosen []*setup.Client) []setup.Finding {
	return slices.DeleteFunc(inspection.Findings(ctx), func(f setup.Finding) bool {
		return !slices.ContainsFunc(chosen, func(c *setup.Client) bool { return slices.Contains(f.Clients, c.Name) })
	})
}

// Inspection returns an inspection of the clients' configuration, for a memory in the home p.
func (in *SetupIn) Inspection(p verb.Place) *setup.Inspection {
	return &setup.Inspection{
		Machine:          in.SetupMachine,
		Options:          in.setupOptions(),
		Home:             p.Home,
		HomeChoiceReason: p.HomeChoiceReason,
		ComparesFiles:    true,
		Start:            in.StartServer,
	}
}

// recordError stores err in the result for this client and returns nil, so that setup continues with the next client.
// If endsSetup is set, it returns err instead, so that setup ends. err may be nil.
func (s *SetupClient) recordError(err error, endsSetup bool) error {
	if err == nil || endsSetup {
		return err
	}
	s.Problem, s.Mend = err.Error(), verb.ErrorRemedy(err)
	return nil
}

// setUpClient sets up one client, removes oxbow from its configuration, or checks the configuration.
func (in *SetupIn) setUpClient(
	ctx context.Context,
	w *verb.Workspace,
	c *setup.Client,
	inspection *setup.Inspection,
	s *SetupClient,
) error {
	o := inspection.Options
	if in.OnlyCheck {
		o = inspection.OptionsOfSetup(c)
	}
	// When oxbow is removed, switch the annotations off before the client's files are changed. Setup stores the marker
	// file for annotations and its own records in the same directory. Changing the client's files may delete the last
	// record, and then also this directory.
	if in.Remove {
		if err := in.updateAnnotationHooks(c, o, s); err != nil {
			return err
		}
	}
	if err := in.changeClientFiles(c, o, s); err != nil {
		return err
	}
	if !in.Remove {
		if err := in.updateAnnotationHooks(c, o, s); err != nil {
			return err
		}
	}
	err := in.setUpClientMemory(ctx, w, c, s)
	if in.mayChangeFiles() {
		err = errors.Join(err, in.turnOnInjection(w, c.Name))
	}
	if in.Remove { // Ignore the error, because oxbow can be removed even if the home cannot be read.
		return nil
	}
	if err != nil {
		return err
	}
	s.Notes = append(s.Notes, c.SetupAdvice(in.SetupMachine, o)...)
	if !in.DryRun {
		in.checkServer(ctx, w, c, inspection, s)
	}
	return nil
}

// mayChangeFiles reports whether the call may change files: it is neither a dry run nor a check.
func (in *SetupIn) mayChangeFiles() bool {
	return !in.DryRun && !in.OnlyCheck
}

// turnOnInjection turns injection on or off for the client. If injection is on, hooks show entries to the client's
// model. Injection is turned off if in.NoInjectionHooks is true and in.Remove is false. Otherwise injection is turned
// on. The choice is stored in a file in the home. turnOnInjection does nothing if the home cannot be found or does not
// have oxbow's own layout.
func (in *SetupIn) turnOnInjection(w *verb.Workspace, clientName string) error {
	p, err := w.FindPlace()
	if err != nil || !p.HasOwnLayout() {
		return nil
	}
	return updateInjectionOffFile(p.Dir(), clientName, in.NoInjectionHooks && !in.Remove)
}

// updateAnnotationHooks makes the hooks of the client c start or stop recording why its agent edits lines. It sets
// s.RecordsEditReasons to the new setting. There are two exceptions:
//   - If in.OnlyCheck is set, updateAnnotationHooks sets s.RecordsEditReasons to the present setting and changes no
//     hooks.
//   - If in.DryRun is set, it sets s.RecordsEditReasons to the setting that it would make, and changes no hooks.
func (in *SetupIn) updateAnnotationHooks(c *setup.Client, o setup.Options, s *SetupClient) error {
	if in.OnlyCheck {
		s.RecordsEditReasons = in.SetupMachine.IsAnnotationOn(c.Name, in.SetupMachine.ProjectDir)
		return nil
	}
	s.RecordsEditReasons = c.CanAnnotate() && !in.NoAnnotate && !in.NoCaptureHooks && !in.Remove
	if in.DryRun {
		return nil
	}
	return c.SwitchAnnotations(in.SetupMachine, o, s.RecordsEditReasons)
}

// setUpClientMemory starts, continues or ends the mirroring of a client's own memory, as in.ClientMemoryMode demands,
// and stores the result in s. Mirroring means that the notes in the client's memory are copied into oxbow's memory. If
// the client's memory is mirrored, setUpClientMemory also imports the notes now. In a dry run or a check, it only sets
// the result. It does nothing if the client has no memory of its own, or if the home does not have oxbow's own layout.
func (in *SetupIn) setUpClientMemory(ctx context.Context, w *verb.Workspace, c *setup.Client, s *SetupClient) error {
	p, err := w.FindPlace()
	if err != nil {
		return err
	}
	if c.MemoryName == "" || !p.HasOwnLayout() {
		return nil
	}
	m, err := readMemoryImportTimes(p.Dir())
	if err != nil {
		return err
	}
	_, was := m[c.Name]
	s.EnabledClientMemory, s.IsMemoryMirrored = in.remainingClientMemory(c, was)
	if in.DryRun || in.OnlyCheck {
		return nil
	}
	delete(m, c.Name)
	if s.IsMemoryMirrored != was {
		if s.IsMemoryMirrored {
			m[c.Name] = time.Time{}
		}
		err = m.save(p.Dir())
	}
	if err != nil || !s.IsMemoryMirrored {
		return err
	}
	got, err := MirrorClientMemory(
		ctx,
		w,
		MirrorClientMemoryIn{Client: c.Name, ClientMachine: in.SetupMachine, Project: in.Project},
	)
	s.Notes = append(s.Notes, got.Problems...)
	s.AddedNotes = got.AddedEntryCount
	s.UpdatedNotes = got.UpdatedEntryCount
	s.QuarantinedNotes = got.QuarantinedEntryCount
	return err
}

// remainingClientMemory returns the name of the client's built-in memory if setup leaves that memory in use, and
// otherwise "". isMirrored is true if the notes in that memory will be copied into oxbow's memory. If
// in.ClientMemoryMode is "", the present choice stays, so isMirrored is equal to wasMirrored.
func (in *SetupIn) remainingClientMemory(c *setup.Client, wasMirrored bool) (memory string, isMirrored bool) {
	switch {
	case in.Remove || in.ClientMemoryMode == "off":
		return "", false
	case in.ClientMemoryMode == "":
		return c.MemoryName, wasMirrored
	}
	return c.MemoryName, in.ClientMemoryMode == "mirror"
}

// checkMirrorAllowed returns an error if in.ClientMemoryMode is "mirror" and the home belongs to a project. The mode
// "mirror" copies the client's memory into the home. The client's memory is about all projects, so it must not be
// copied into the home of one project.
func (in *SetupIn) checkMirrorAllowed(w *verb.Workspace) error {
	if in.ClientMemoryMode != "mirror" {
		return nil
	}
	p, err := w.FindPlace()
	if err == nil && p.FoundFromWorkingDir {
		err = verb.Advise(
			verb.Invalidf("%s is the home of a project, and a client's memory is of all of them", p.Home),
			"name your own home with --home",
		)
	}
	return err
}

// chosenClients returns the clients that the call names in in.Clients. The name "all" means all installed clients, and
// all known clients if in.Remove is set. If the call names no client, chosenClients returns all known clients. It
// returns an error if a name is unknown.
func (in *SetupIn) chosenClients() (all []*setup.Client, err error) {
	if len(in.Clients) == 0 {
		return setup.Clients(), nil
	}
	var names []string
	for _, c := range setup.Clients() {
		names = append(names, c.Name)
	}
	named := strings.FieldsFunc(strings.Join(in.Clients, ","), func(r rune) bool { return r == ',' })
	for _, name := range named {
		c := setup.FindClient(strings.TrimSpace(name))
		switch {
		case name == "all":
			for _, c := range setup.Clients() {
				if c.IsInstalled(in.SetupMachine) || in.Remove {
					all = append(all, c)
				}
			}
		case c == nil:
			return nil, verb.Advise(verb.Invalidf("there is no client %q", name), "name one of "+
				strings.Join(names, " ")+", or all that are installed: all")
		default:
			all = append(all, c)
		}
	}
	return all, nil
}

func (in *SetupIn) setupOptions() setup.Options {
	o := setup.Options{Executable: in.Executable, Home: in.Home, ForProject: in.Scope == "project", NoMCP: in.NoMCP,
		NoInject:  in.NoInjectionHooks,
		NoCapture: in.NoCaptureHooks, SwitchMemoryOff: in.ClientMemoryMode == "off",
		TrustCodexHooks: in.MarkHooksTrusted, PluginSource: in.PluginFileText}
	if in.HasOtherProgramLayout {
		o.AllowedTools = in.ApprovedTools
		return o
	}
	for _, v := range verb.ToolsWithProfiles(append(verb.Tools(), append(annotations.AnnotationTools(),
		verb.NewRecallMemoryTool())...), nil) {
		if v.ReadOnly || v.Name == "remember" {
			o.AllowedTools = append(o.AllowedTools, v.Name)
		}
	}
	return o
}

// describeClient returns the result for a client that was not changed: whether it is installed and set up.
func (in *SetupIn) describeClient(c *setup.Client) SetupClient {
	return SetupClient{
		Client:    c.Name,
		Title:     c.Title,
		Installed: c.IsInstalled(in.SetupMachine),
		IsSetUp:   len(c.ServerEntries(in.SetupMachine, in.setupOptions())) > 0,
	}
}

// changeClientFiles plans the changes of a client's files, asks the person to confirm them if in.Confirm is set, and
// makes them. If the files may not be changed, it only lists the planned changes in result. If another program writes
// one of the files at the same time, changeClientFiles plans and tries again, up to five times.
func (in *SetupIn) changeClientFiles(c *setup.Client, o setup.Options, result *SetupClient) error {
	plan := c.Plan
	if in.Remove {
		plan = c.PlanRemoval
	}
	for try := 0; ; try++ {
		changes, err := plan(in.SetupMachine, o)
		if err != nil {
			return verb.Advise(err, "nothing was changed for "+c.Title+"; "+in.fileErrorAdvice(c, err))
		}
		result.Files = listChangedFiles(changes)
		if !in.mayChangeFiles() {
			return nil
		}
		hasChanges := slices.ContainsFunc(changes, func(ch *setup.Change) bool { return !ch.IsUnchanged() })
		mustAsk := in.Confirm != nil && try == 0
		if mustAsk && hasChanges {
			if err := in.Confirm(result.Files); err != nil {
				return err
			}
		}
		n, err := applyChanges(changes)
		switch {
		case err == nil:
			result.IsSetUp = !in.Remove
			return nil
		case !setup.IsFileChangedError(err) || try == 5:
			result.IsSetUp, result.Files = false, listChangedFiles(changes[:n])
			return verb.Advise(err, "nothing more was changed for "+c.Title+"; "+in.fileErrorAdvice(c, err))
		}
	}
}

// fileErrorAdvice returns advice about an error with one of a client's files.
func (in *SetupIn) fileErrorAdvice(c *setup.Client, err error) string {
	command := "oxbow setup " + c.Name
	if setup.IsNoProjectError(err) {
		return "its files of the user: " + command
	}
	if in.Scope == "project" {
		command += " --scope project"
	}
	if in.Remove {
		command += " --remove"
	}
	return "correct the file, then " + command
}

func listChangedFiles(changes []*setup.Change) (all []SetupFile) {
	for _, ch := range changes {
		if !ch.IsUnchanged() || ch.Before != nil {
			all = append(all, SetupFile{Path: ch.Path, Outcome: describeFileChange(ch), Diff: ch.Diff()})
		}
	}
	return all
}

// applyChanges makes the changes. It stops at the first error, and returns the number of changes made.
func applyChanges(changes []*setup.Change) (int, error) {
	for i, ch := range changes {
		if err := ch.Apply(); err != nil {
			return i, err
		}
	}
	return len(changes), nil
}

func describeFileChange(c *setup.Change) string {
	switch {
	case c.IsUnchanged():
		return "unchanged"
	case c.Before == nil:
		return "created"
	case c.After == nil:
		return "removed"
	}
	return "changed"
}

// checkServer starts a client's server, asks which home it serves, and stores the answer in result.StartedServer. The
// answer contains a problem if the server does not answer, or serves another home than w's home. checkServer does
// nothing if the client lacks an entry for a server, or if in.StartServer is nil.
func (in *SetupIn) checkServer(
	ctx context.Context,
	w *verb.Workspace,
	c *setup.Client,
	inspection *setup.Inspection,
	result *SetupClient,
) {
	servers := c.ServerEntries(in.SetupMachine, in.setupOptions())
	if len(servers) == 0 || in.StartServer == nil {
		return
	}
	server := servers[0].Server
	r := &StartedServer{Command: server.Argv()}
	result.StartedServer = r
	p, err := w.FindPlace()
	if err == nil {
		a := inspection.AskServerForMemory(ctx, server)
		r.AnswerOfServer = a.Text
		r.Home = a.Home
		r.Entries = parseEntryCount(a.Text)
		r.HasNoOxbowMemory = a.MissingMemoryReason != ""
		err = a.Err
	}
	switch {
	case err != nil:
		r.Problem = fmt.Sprintf("it does not answer: %v", err)
	case r.Home != "" && r.Home != p.Home && !output.SameFile(r.Home, p.Home):
		r.Problem = fmt.Sprintf("it serves %s, and this command %s", filepath.Clean(r.Home), p.Home)
	}
}

// parseEntryCount returns the number of entries in the memory, according to an answer from the tool named list. Such an
// answer begins with a text such as "0 entries" or "1 of 9 entries". In the second case, the number is 9. If the answer
// has another form, parseEntryCount returns nil.
func parseEntryCount(answer string) *int {
	words := strings.Fields(answer)
	if len(words) > 2 && words[1] == "of" {
		words = words[2:]
	}
	if len(words) < 2 || !strings.HasPrefix(words[1], "entr") {
		return nil
	}
	if n, err := strconv.Atoi(words[0]); err == nil {
		return &n
	}
	return nil
}

// updateInjectionOffFile creates the file that switches injection off for a client, or removes the file if isOff is
// false.
func updateInjectionOffFile(home, client string, isOff bool) error {
	path := filepath.Join(home, injection.ClientInjectionOffFile(client))
	if isOff {
		return errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(path, nil, 0o600))
	}
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}
