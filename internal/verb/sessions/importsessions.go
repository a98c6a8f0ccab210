// This file implements the verb that imports sessions from the files of clients.

package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// ImportSessionsIn is the argument of ImportSessions.
type ImportSessionsIn struct {
	Clients   []string `json:"clients,omitempty" flag:"-"`
	SinceDate string   `json:"since,omitempty"               value:"DATE" usage:"Only sessions that a client wrote on or after this date (2026-04-18, 7d, yesterday)."`
	Files     []string `json:"files,omitempty"   flag:"file" value:"FILE" usage:"Read this transcript or database of the client that you name. For chatgpt and claude-ai, it is the export of your data."`
	DryRun    bool     `json:"dry_run,omitempty"                          usage:"Say what would be read, and read nothing."`

	Home string `json:"-"` // home directory of the user

	// NewReader returns a function that reads transcripts. The returned function calls report if it does not store all
	// that it reads.
	NewReader func(report func(transcript.ReadReport)) session.TranscriptReader `json:"-"`

	// KeepInstructions is called with custom instructions in the export of a chat service. It may be called with the
	// same text several times. If it is nil, custom instructions count as left out.
	KeepInstructions func(transcript.Instructions) `json:"-"`

	// TakeHookReport returns a report about transcripts that a client's hooks named and that were read since the last
	// import. The report describes the parts of these transcripts that were omitted. The next call returns an empty
	// report. TakeHookReport may be nil.
	TakeHookReport func(client string) (transcript.ReadReport, error) `json:"-"`

	// CalibrateFloor is called after many turns were written to the archive, compared with the turns that it contained.
	// It computes how strongly a turn must match a prompt so that a hook shows it. Otherwise the hooks of the next
	// prompts would have to compute this, and would show nothing if they had too little time. CalibrateFloor may be
	// nil, and its error is ignored.
	CalibrateFloor func(ctx context.Context, w *verb.Workspace, archive *session.Archive) error `json:"-"`
}

// ImportSessionsOut is the result of ImportSessions.
type ImportSessionsOut struct {
	DryRun            bool               `json:"dry_run,omitempty"`
	Clients           []ImportedClient   `json:"clients"`
	UnreadTranscripts []UnreadTranscript `json:"unread,omitempty"`
}

// Failed reports whether a transcript, or a part of one, could not be read or was not understood.
func (o ImportSessionsOut) Failed() bool {
	return len(o.UnreadTranscripts) > 0 || slices.ContainsFunc(o.Clients, func(c ImportedClient) bool {
		return c.HasProblems()
	})
}

// Report tells for each client how many files were, or would be, read, and how many turns are new or changed.
func (o ImportSessionsOut) Report() (r report.Report) {
	for _, c := range o.Clients {
		files, size := report.OxbowText(
			text.FormatCount(c.Files, "file", "files"),
		), report.OxbowText(
			text.FormatBytes(c.Bytes),
		)
		client := report.OxbowText(c.Client)
		if o.DryRun {
			r.AddLinef("%s: would read %s, %s", client, files, size)
			continue
		}
		turns := report.OxbowText(text.FormatCount(c.Turns, "turn", "turns"))
		r.AddLinef("%s: %s new, %d changed, of %s, %s", client, turns, c.ChangedTurns, files, size)
		c.addOmittedPartsNotes(&r)
	}
	for _, f := range o.UnreadTranscripts {
		r.Warnf("%s", report.QuotedText(f.Error))
	}
	if len(o.Clients) == 0 {
		r.AddNotef("no client has kept a session here")
	}
	return r
}

// ImportedClient counts the session files of one client that were imported into the archive.
type ImportedClient struct {
	Client       string `json:"client"`
	Files        int    `json:"files"`
	Bytes        int64  `json:"bytes"`
	Turns        int    `json:"turns"`   // turns that the archive did not contain before
	ChangedTurns int    `json:"changed"` // turns with new information

	transcript.ReadReport // parts of the transcripts that were not stored
}

// addOmittedPartsNotes adds notes about the parts of the client's transcripts that were not stored in the archive.
func (c *ImportedClient) addOmittedPartsNotes(r *report.Report) {
	if c.BadLines > 0 {
		r.AddNotef(
			"%s of %s could not be read",
			report.OxbowText(text.FormatCount(c.BadLines, "line", "lines")),
			report.OxbowText(c.Client),
		)
	}
	for _, line := range c.FirstBadLines {
		r.AddNotef("%s", report.QuotedText(line.String()))
	}
	if more := c.BadLines - len(c.FirstBadLines); more > 0 {
		r.AddNotef("and %d more", more)
	}
	if len(c.LeftOutParts) > 0 {
		r.AddNotef("left out of the conversations: %s", report.QuotedText(c.DescribeLeftOutParts()))
	}
	for _, parts := range c.DescribeUnknownParts() {
		r.AddNotef("left out, because oxbow does not know the type: %s", report.QuotedText(parts))
	}
}

// UnreadTranscript is a transcript that could not be read.
type UnreadTranscript struct {
	Path  string `json:"path"`
	Error string `json:"error"`
}

// ImportSessions adds new sessions of the clients to the archive. It continues where the last import ended.
func ImportSessions(ctx context.Context, w *verb.Workspace, in ImportSessionsIn) (ImportSessionsOut, error) {
	out := ImportSessionsOut{DryRun: in.DryRun, Clients: []ImportedClient{}}
	files, err := in.findTranscripts(w)
	if err != nil {
		return out, err
	}
	at := map[string]int{}
	for _, f := range files {
		i, ok := at[f.Client]
		if !ok {
			i = len(out.Clients)
			at[f.Client] = i
			out.Clients = append(out.Clients, ImportedClient{Client: f.Client})
		}
		out.Clients[i].Files++
		out.Clients[i].Bytes += f.Size
	}
	if in.DryRun || len(files) == 0 {
		return out, nil
	}
	ctx, archive, err := w.OpenArchive(ctx)
	if err != nil {
		return out, err
	}
	written, tell := 0, progress.NewCountReporter(ctx, progress.UnitFiles)
	for n, f := range files {
		c := &out.Clients[at[f.Client]]
		r, err := archive.ImportTranscript(ctx, f.Client, f.Path, in.transcriptReader(c))
		c.Turns, c.ChangedTurns = c.Turns+r.NewTurns, c.ChangedTurns+r.ChangedTurns
		written += r.NewTurns + r.ChangedTurns
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case isUnreadTranscriptError(err):
			out.UnreadTranscripts = append(out.UnreadTranscripts, UnreadTranscript{f.Path, err.Error()})
		case err != nil:
			return out, err
		}
		tell(n+1, len(files))
	}
	isLargeImport := verb.IndexAfterLargeWrite(ctx, archive.Memory, written)
	if isLargeImport && written > 0 && in.CalibrateFloor != nil {
		_ = in.CalibrateFloor(ctx, w, archive)
	}
	return out, in.addHookReports(out.Clients)
}

// addHookReports adds a report to each client in clients. The report counts the parts of transcripts that were not
// stored in the archive. It covers the transcripts that the client's hooks have named and that were read since the last
// import. If the user named files, addHookReports adds nothing, because the user asks only about these files. It also
// adds nothing if in.TakeHookReport is nil.
func (in *ImportSessionsIn) addHookReports(clients []ImportedClient) error {
	if in.TakeHookReport == nil || len(in.Files) > 0 {
		return nil
	}
	for i := range clients {
		report, err := in.TakeHookReport(clients[i].Client)
		if err != nil {
			return err
		}
		clients[i].Add(report)
	}
	return nil
}

// transcriptReader returns a function that reads a transcript, and adds a report about the parts that are not stored to
// c. If the user named the transcript and the whole file contains no events, the function returns an error, because
// another client may have written the file. Two kinds of files without events are not an error: an empty file, and a
// client's list of prompts. Such a list omits the prompts of sessions whose transcripts exist.
func (in *ImportSessionsIn) transcriptReader(c *ImportedClient) session.TranscriptReader {
	read := in.NewReader(func(r transcript.ReadReport) {
		if in.KeepInstructions != nil {
			for _, i := range r.TakeInstructions() {
				in.KeepInstructions(i)
			}
		}
		c.Add(r)
	})
	return func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
		events, next, err := read(ctx, client, path, cursor)
		isWithoutEvents := cursor == "" && len(events) == 0
		mayBeEmpty := len(in.Files) == 0 || clientfile.IsPromptList(path)
		if err != nil || mayBeEmpty {
			return events, next, err
		}
		if isWithoutEvents && !isEmptyFile(path) {
			err = fmt.Errorf(
				"%w %s: it holds nothing of a session of %s; name the client that wrote it",
				transcript.ErrReadTranscript,
				path,
				client,
			)
		}
		return events, next, err
	}
}

// isEmptyFile reports whether a transcript is an empty file. A client may create the file before writing to it.
func isEmptyFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() == 0
}

// findTranscripts returns the transcripts to import. These are the transcripts in in.Files, or, if no files are given,
// all transcripts of the clients in.Clients ("all" or no clients mean all known clients). Transcripts that were last
// written before the date in.SinceDate are left out.
func (in *ImportSessionsIn) findTranscripts(w *verb.Workspace) (files []transcript.FoundTranscript, err error) {
	clients := in.Clients
	if len(clients) == 0 || slices.Contains(clients, "all") {
		clients = transcript.ClientNames()
	}
	given := len(in.Files) > 0
	if err := checkSessionClients(clients, given); err != nil {
		return nil, err
	}
	for _, path := range in.Files {
		found, err := transcriptsInFile(clients[0], path)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if !given {
		files = transcript.FindTranscripts(in.Home, w.Host.Getenv, clients...)
	}
	since, err := ParseSince(w, in.SinceDate)
	return slices.DeleteFunc(files, func(f transcript.FoundTranscript) bool { return f.ModTime.Before(since) }), err
}

// checkSessionClients returns an error if the sessions of one of the clients cannot be imported. This is the case if a
// client is unknown, if several clients are named for given files, or if the client keeps its conversations on its
// servers and no file is given. areFilesGiven is true if the user named files.
func checkSessionClients(clients []string, areFilesGiven bool) error {
	found := transcript.ClientNames()
	for _, c := range clients {
		isService := transcript.IsChatService(c)
		switch {
		case isService && !areFilesGiven:
			return verb.Advise(verb.Invalidf("%s keeps its conversations on its servers", c),
				"ask it for an export of your data, then: oxbow import FILE.zip")
		case !slices.Contains(found, c) && !isService:
			return verb.InvalidValue("clients", c, "is none of "+strings.Join(found, ", "))
		case areFilesGiven && len(clients) > 1:
			return verb.Advise(
				verb.Invalidf("--file needs the client that the files are of"),
				"oxbow session import claude --file FILE",
			)
		}
	}
	return nil
}

// transcriptsInFile returns the transcripts in a file that the user named. The export of a chat service may contain
// several.
func transcriptsInFile(client, path string) ([]transcript.FoundTranscript, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	fi, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !transcript.IsChatService(client) {
		file := transcript.FoundTranscript{Client: client, Path: path, Size: fi.Size(), ModTime: fi.ModTime()}
		return transcript.SessionsInFile(file), nil
	}
	names, err := transcript.FindChatFiles(path)
	if err == nil && len(names) == 0 {
		err = verb.Invalidf("%s has no file whose name begins with conversations and ends in .json", path)
	}
	var files []transcript.FoundTranscript
	for _, name := range names {
		files = append(
			files,
			transcript.FoundTranscript{Client: client, Path: name, Size: textSize(name), ModTime: fi.ModTime()},
		)
	}
	return files, err
}

// textSize returns the size of a transcript's text in bytes, which is not known for every packed file. The result is 0
// if the size is not known, or if the transcript cannot be opened.
func textSize(path string) int64 {
	in, err := clientfile.Open(path)
	if err != nil {
		return 0 // ignore the error, because it is reported when the transcript is read
	}
	defer in.Close()
	size, _ := in.Size()
	return max(size, 0)
}

// isUnreadTranscriptError reports whether the error only concerns a single transcript, so that other transcripts
// can still be imported.
func isUnreadTranscriptError(err error) bool { return errors.Is(err, transcript.ErrReadTranscript) }
