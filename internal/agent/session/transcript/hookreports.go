// This file stores reports about parts of transcripts that were left out. Hooks name the transcripts, and a command in
// the background reads them. Nobody sees the output of this command, so the next import and the command doctor show the
// reports.

package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/vfs"
)

// hookReportsFile is the name of the file in which [HookReportStore] stores its reports about the parts of transcripts
// that were left out.
const hookReportsFile = "leftout.json"

// maxHookReportsBytes is the maximum size, in bytes, of the file with the reports about transcript parts that were not
// stored. The file contains one report of limited size for each client. A larger file must therefore be damaged, and is
// ignored.
const maxHookReportsBytes = 8 << 20

// HookReportStore stores a report for each client. The report lists the parts that were left out when the client's
// transcripts were read. Dir is the directory for the reports. It is the spool of an oxbow home, that is, the directory
// in which hooks store events.
type HookReportStore struct{ Dir string }

// HookReport is the report about one client.
type HookReport struct {
	Client string     `json:"client"`
	Time   time.Time  `json:"time"` // time when parts of a transcript were last added to this report
	Report ReadReport `json:"report"`
}

// NewReader returns a function that reads transcripts, like the function that the package's [NewReader] returns. If
// parts of a transcript were left out, for example because a line cannot be read, the function also adds these parts to
// the reports that h stores. If a report cannot be stored, the function returns an error, so that the part of the
// transcript is read again later.
//
// The caller must hold the lock of the spool, the directory in which hooks store events, as
// [session.Archive.DrainSpool] does. Otherwise two processes could change the reports at the same time.
func (h HookReportStore) NewReader(cleanText func(string) string, now func() time.Time) session.TranscriptReader {
	var report ReadReport
	read := NewReader(cleanText, func(r ReadReport) { report = r })
	return func(ctx context.Context, client, path, cursor string) ([]session.Event, string, error) {
		report = ReadReport{}
		events, next, err := read(ctx, client, path, cursor)
		if strings.HasSuffix(path, ".json") {
			report.BadLines = 0 // The client may be rewriting the document, which is then incomplete for a moment.
			report.FirstBadLines = nil
		}
		if err == nil && report.HasProblems() {
			err = h.add(client, now(), report)
		}
		if err != nil {
			return nil, cursor, err
		}
		return events, next, nil
	}
}

// add adds a report about a client's transcripts.
func (h HookReportStore) add(client string, now time.Time, report ReadReport) error {
	dir, err := vfs.Dir(h.Dir)
	if err != nil {
		return err
	}
	defer dir.Close()
	all, err := readHookReports(dir)
	if err != nil {
		return err
	}
	one := all[client]
	one.Client, one.Time = client, now
	one.Report.Add(report)
	all[client] = one
	return writeHookReports(dir, all)
}

// List returns the stored reports, sorted by client. A missing file contains no reports.
func (h HookReportStore) List() ([]HookReport, error) {
	dir, err := vfs.Dir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	byClient, err := readHookReports(dir)
	if err != nil {
		return nil, err
	}
	var all []HookReport
	for _, client := range slices.Sorted(maps.Keys(byClient)) {
		all = append(all, byClient[client])
	}
	return all, nil
}

// TakeReport returns the report about a client's transcripts and removes it. The report is empty if none is stored. If
// another process adds a report at the same moment, the returned report may be stored again.
func (h HookReportStore) TakeReport(client string) (ReadReport, error) {
	dir, err := vfs.Dir(h.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return ReadReport{}, nil
	}
	if err != nil {
		return ReadReport{}, err
	}
	defer dir.Close()
	all, err := readHookReports(dir)
	one, ok := all[client]
	if err != nil || !ok {
		return ReadReport{}, err
	}
	delete(all, client)
	return one.Report, writeHookReports(dir, all)
}

// readHookReports returns the last hook report of each client. The map's keys are the names of the clients. If the file
// is missing, too large or damaged, the map is empty. A damaged file does not cause an error, because the error would
// stop all hooks. If it is ignored, oxbow only loses the description of the transcript parts that were not stored.
func readHookReports(dir *vfs.OS) (map[string]HookReport, error) {
	all := map[string]HookReport{}
	b, err := vfs.ReadFile(dir, hookReportsFile, maxHookReportsBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, vfs.ErrTooLarge):
		return all, nil
	case err != nil:
		return nil, err
	}
	if err := json.Unmarshal(b, &all); err != nil || all == nil {
		return map[string]HookReport{}, nil
	}
	return all, nil
}

// writeHookReports replaces the stored reports.
func writeHookReports(dir *vfs.OS, all map[string]HookReport) error {
	if len(all) == 0 {
		return dir.Remove(hookReportsFile)
	}
	b, err := json.Marshal(all)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", hookReportsFile, err)
	}
	vfs.RemoveDrafts(dir, hookReportsFile)
	return vfs.WriteDerived(dir, hookReportsFile, 0o600, b)
}
