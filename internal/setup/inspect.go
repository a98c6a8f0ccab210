// This file finds out how clients are set up, and what is wrong with that. Doctor, setup and its
// check show the same findings.

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
	"slices"
	"strings"
)

// The levels of a finding.
const (
	OK      = "ok"
	warning = "warning" // it works, but not as the person may think
	Problem = "problem" // it does not work
)

// Finding is one thing to know about clients that are set up, and what to do about it.
type Finding struct {
	Clients []string `json:"clients"` // their names
	Level   string   `json:"level"`
	What    string   `json:"what"`
	Mend    string   `json:"mend,omitempty"` // a command as typed, or a sentence
	Note    bool     `json:"-"`              // setup shows it even if nothing is wrong
}

// Answer is what a server answered.
type Answer struct {
	Home string // that it serves
	Text string // of its tool list
	Err  error  // it does not answer

	// NoMemory is why the server has no memory, and Mend what to do about that; "" if it has one.
	NoMemory, Mend string
}

// Inspection finds out what is wrong with how clients are set up. It is not safe for concurrent
// use.
type Inspection struct {
	World   World
	Options Options // Executable, Home and Project, by which clients would be set up now
	Home    string  // of this command
	Rule    string  // that chose the home, in words

	// Compares says that Options has all that setup would use, so that the files can be compared
	// with what setup would write.
	Compares bool

	// Start starts a server as a client would, and asks it something. If it is nil, no server
	// is started.
	Start func(ctx context.Context, s Server) Answer

	answers map[string]Answer // by command and environment
}

// Status is how one client is set up.
type Status struct {
	Client   *Client
	Servers  []Entry
	Recorded bool  // setup changed files of the client and has not taken that back
	Holds    bool  // there is something of oxbow in the files
	Err      error // a file that cannot be read; only if Recorded

	choices  *choices // of the setup; nil if they are not known
	trusted  bool     // the client runs the hooks
	servable bool     // one of the files may name servers
}

// isBelow reports whether a path is in a directory.
func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// SetUp reports whether the client uses oxbow.
func (s *Status) SetUp() bool { return len(s.Servers) > 0 || s.Holds }

// Status returns how a client is set up.
func (in *Inspection) Status(c *Client) Status {
	s := Status{Client: c, Servers: c.Servers(in.World, in.Options.Project), trusted: true}
	for _, f := range c.files(in.World, in.Options) {
		if !in.Options.Project || isBelow(in.World.Dir, f.path) { // others are the user's, which setup of a project writes, too
			s.read(in.World, &f)
		}
	}
	if c.Name == "codex" {
		s.trusted = trustsHooks(in.World, in.Options)
	}
	return s
}

// read adds what a file of the client says.
func (s *Status) read(w World, f *file) {
	s.servable = s.servable || len(f.servers) > 0
	real, err := follow(f.path)
	if err != nil {
		return
	}
	r, err := w.record(real)
	if r != nil {
		s.Recorded = true
		if r.Choices != nil {
			s.choices = r.Choices
		}
	}
	var text, base []byte
	if err == nil {
		text, err = readFile(real)
	}
	if err == nil {
		base, err = f.without(text, r)
	}
	switch {
	case err != nil && s.Recorded:
		s.Err = fmt.Errorf("%s: %w", w.Title(f.path), err)
	case err == nil && !isEmpty(text) && !bytes.Equal(text, base):
		s.Holds = true
	}
}

// Chosen returns options by which the client would be set up now as it is.
func (in *Inspection) Chosen(c *Client) Options {
	if s := in.Status(c); s.choices != nil {
		return s.choices.apply(in.Options)
	}
	return in.Options
}

// programs returns the programs that the client starts and that setup wrote as paths.
func (s *Status) programs() []string {
	all := map[string]bool{}
	for _, e := range s.Servers {
		all[e.Server.Argv()[0]] = true
	}
	if s.choices != nil && s.Holds {
		all[s.choices.Executable] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(p string) bool { return !filepath.IsAbs(p) })
}

// fault is something that is wrong with one client. Faults with the same words are one finding.
type fault struct {
	level string
	what  string // with {clients} for the titles
	mend  func(all []Status) string
}

// Find returns the findings about the clients that are set up: first what is wrong, joined if it
// is the same with several clients, then what is right.
//
// Unless the inspection is of a project, what is wrong with the setup of the project in World.Dir
// comes last. Its servers are not started: files of a project may come from others.
func (in *Inspection) Find(ctx context.Context) []Finding {
	all := in.find(ctx)
	if in.Options.Project || in.World.Dir == "" || filepath.Clean(in.World.Dir) == filepath.Clean(in.World.User) {
		return all
	}
	project := *in
	project.Options.Project, project.Start = true, nil
	return append(all, slices.DeleteFunc(project.find(ctx), func(f Finding) bool { return f.Level == OK })...)
}

// find returns the findings about the user's files or, if the inspection is of a project, about
// files there that setup changed.
func (in *Inspection) find(ctx context.Context) []Finding {
	type joined struct {
		fault
		of []Status
	}
	var wrong []*joined
	var right []Finding
	var absent []Status
	for _, c := range clients {
		s := in.Status(c)
		if !s.Recorded && (in.Options.Project || !s.SetUp()) {
			continue
		}
		if c.Program != "" && !c.OnPath(in.World) {
			absent = append(absent, s)
		}
		faults := in.faults(ctx, &s)
		for _, f := range faults {
			i := slices.IndexFunc(wrong, func(j *joined) bool { return j.what == f.what })
			if i < 0 {
				i = len(wrong)
				wrong = append(wrong, &joined{fault: f})
			}
			wrong[i].of = append(wrong[i].of, s)
		}
		if len(faults) == 0 {
			mend := in.refresh(&s)
			right = append(right, Finding{[]string{c.Name}, OK, in.sayRight(&s), mend, mend != ""})
		}
	}
	all := []Finding{}
	for _, j := range wrong {
		names, titles := namesOf(j.of)
		all = append(all, Finding{names, j.level, strings.ReplaceAll(j.what, "{clients}", list(titles)+in.where()), j.mend(j.of), true})
	}
	if len(absent) > 0 {
		names, titles := namesOf(absent)
		right = append(right, Finding{names, OK, "not found on PATH, and set up all the same: " + list(titles), "", true})
	}
	return append(all, right...)
}

// where says of what the findings are, after the titles of clients.
func (in *Inspection) where() string {
	if in.Options.Project {
		return " in this project"
	}
	return ""
}

// namesOf returns the names and the titles of clients.
func namesOf(all []Status) (names, titles []string) {
	for _, s := range all {
		names, titles = append(names, s.Client.Name), append(titles, s.Client.Title)
	}
	return names, titles
}

// faults returns what is wrong with a client that is or was set up.
func (in *Inspection) faults(ctx context.Context, s *Status) (all []fault) {
	again := func(of []Status) string { return in.again(of) }
	add := func(level string, mend func([]Status) string, format string, args ...any) {
		all = append(all, fault{level, fmt.Sprintf(format, args...), mend})
	}
	switch {
	case s.Err != nil:
		add(Problem, func(of []Status) string { return "correct the file, then " + in.again(of) }, "oxbow is set up for {clients}, and a file cannot be read: %v", s.Err)
		return all
	case !s.SetUp():
		add(warning, again, "oxbow was set up for {clients}, and nothing of it is left in the files (if that was meant: %s)", in.remove(s))
		return all
	}
	if s.lacksServer() {
		add(warning, again, "{clients}: hooks of oxbow are set up, and its server is no longer in the files")
	}
	isGone := false
	for _, p := range s.programs() {
		if fi, err := os.Stat(p); errors.Is(err, fs.ErrNotExist) {
			isGone = true
			add(Problem, again, "{clients}: the program is gone: %s", p)
		} else if err == nil && in.isOther(fi) {
			add(warning, again, "{clients}: another oxbow is set up, %s; this one is %s", p, in.Options.Executable)
		}
	}
	if what := in.wrongHome(s); what != "" {
		add(warning, again, "%s", what)
	}
	if !s.trusted {
		add(warning, func(of []Status) string { return in.again(of, "--trust") },
			"{clients} runs no hook of oxbow before you trust it, here or with /hooks there: nothing is kept, and nothing is shown by itself")
	}
	if isGone {
		return all
	}
	return append(all, in.tryServer(ctx, s)...)
}

// tryServer starts the server of a client, if it has one and this inspection starts servers.
func (in *Inspection) tryServer(ctx context.Context, s *Status) []fault {
	if len(s.Servers) == 0 || in.Start == nil {
		return nil
	}
	server := s.Servers[0].Server
	switch a := in.Ask(ctx, server); {
	case a.Err != nil:
		what := fmt.Sprintf("{clients}: the server %s does not answer: %v", strings.Join(server.Argv(), " "), a.Err)
		return []fault{{Problem, what, func(of []Status) string { return in.again(of) }}}
	case a.NoMemory != "":
		return []fault{{Problem, "{clients}: the server answers that it has no memory: " + a.NoMemory, func([]Status) string { return a.Mend }}}
	}
	return nil
}

// lacksServer reports whether setup wrote a server that is no longer in the files.
func (s *Status) lacksServer() bool {
	return s.servable && s.choices != nil && !s.choices.NoMCP && len(s.Servers) == 0
}

// isOther reports whether a program is not this one.
func (in *Inspection) isOther(program os.FileInfo) bool {
	this, err := os.Stat(in.Options.Executable)
	return err == nil && !os.SameFile(this, program)
}

// Ask starts a server, once for each command and environment, and returns its answer.
func (in *Inspection) Ask(ctx context.Context, s Server) Answer {
	key := fmt.Sprintf("%q %q %q", s.Argv(), s.Env, s.Environment)
	a, asked := in.answers[key]
	if !asked {
		a = in.Start(ctx, s)
		if in.answers == nil {
			in.answers = map[string]Answer{}
		}
		in.answers[key] = a
	}
	return a
}

// wrongHome returns what is wrong with the home that the client's servers serve, "" if nothing.
func (in *Inspection) wrongHome(s *Status) string {
	var others []string
	finds := false
	for _, e := range s.Servers {
		switch home := e.Server.Home(); {
		case home == "":
			finds = true
		case sameFile(home, in.Home):
			return ""
		default:
			others = append(others, home)
		}
	}
	switch {
	case finds && in.Options.Home != "":
		return "{clients}: oxbow is set up without --home and finds its home by itself, which may not be this one, chosen by " + in.Rule
	case !finds && len(others) > 0:
		return "{clients}: oxbow is set up for the home " + strings.Join(others, ", ") + ", not for this one"
	}
	return ""
}

func sameFile(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	fa, aerr := os.Stat(a)
	fb, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(fa, fb)
}

// sayRight says how a client is set up with which nothing is wrong.
func (in *Inspection) sayRight(s *Status) string {
	what := s.Client.Title
	switch {
	case len(s.Servers) == 0:
		what += " runs oxbow's hooks, and no server"
	case s.Servers[0].Server.Home() == "":
		what += " starts oxbow on the home that it finds"
	default:
		what += " starts oxbow on this home"
	}
	return what
}

// refresh returns the command that brings files up to date which another version or a person
// changed since; "" if they are as setup would write them now.
func (in *Inspection) refresh(s *Status) string {
	if s.choices == nil || !in.Compares {
		return ""
	}
	changes, err := s.Client.Plan(in.World, s.choices.apply(in.Options), false)
	if err != nil || !slices.ContainsFunc(changes, func(c *Change) bool { return !c.Same() }) {
		return ""
	}
	return "its files are not as this oxbow writes them: " + in.again([]Status{*s})
}

// again returns the commands that set clients up again as they were.
func (in *Inspection) again(all []Status, more ...string) string {
	var order []string
	names := map[string][]string{}
	for _, s := range all {
		words := in.flags(&s)
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

// remove returns the command that takes oxbow out of a client.
func (in *Inspection) remove(s *Status) string {
	command := "oxbow setup " + s.Client.Name
	if in.Options.Project {
		command += " --scope project"
	}
	return command + " --remove"
}

// flags returns the options of the setup of a client.
func (in *Inspection) flags(s *Status) (all []string) {
	if in.Options.Project {
		all = append(all, "--scope project")
	}
	if s.choices == nil {
		return all
	}
	all = append(all, s.choices.flags()...)
	dir := ""
	if in.Options.Project {
		dir = in.World.Dir
	}
	if s.Client.CanAnnotate() && !s.choices.NoCapture && !exists(in.World.annotateFile(s.Client.Name, dir)) {
		all = append(all, "--no-annotate")
	}
	return all
}

// list joins words as a sentence does.
func list(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}
