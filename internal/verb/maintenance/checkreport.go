// This file writes the report of oxbow check, which says whether the memory is damaged.

package maintenance

import (
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// sidecarRepairAdvice tells the user how to repair files of annotations with damaged lines.
const sidecarRepairAdvice = "oxbow annotate recover keeps these lines beside, and puts back what can be read of them; or " +
	"git checkout an older version of the file"

// Report says whether the memory, the annotations and the archive of sessions are sound. The memory can be reported as
// sound even if the annotations or the archive have problems.
func (o CheckDataOut) Report() (r report.Report) {
	if len(o.Problems) > 0 {
		r.Append(o.problemReport())
	} else {
		r.Append(o.reportCheckedParts())
	}
	if o.Annotations != nil {
		r.Append(o.Annotations.makeReport())
	}
	if s := o.Sessions; s != nil && len(s.Problems) > 0 {
		addProblems(&r, s.StorePath, s.Problems)
	} else if s != nil {
		r.AddDetailf("%s is sound: %s, %s", s.StorePath, report.OxbowText(text.FormatCount(s.Entries, "entry",
			"entries")),
			report.OxbowText(text.FormatBytes(s.Bytes)))
	}
	return r
}

// problemReport lists the problems of the memory.
func (o CheckDataOut) problemReport() (r report.Report) {
	addProblems(&r, o.Store, o.Problems)
	r.Append(o.reportNotesAndLogTails())
	return r
}

// reportCheckedParts lists the parts that were checked.
func (o CheckDataOut) reportCheckedParts() (r report.Report) {
	if o.IsStoreFileMissing {
		r.AddNotef("there is no memory in %s yet", filepath.Dir(o.Store))
	} else {
		r.AddDetailf("%s is sound: %s, %s, %s", o.Store,
			report.OxbowText(text.FormatCount(o.Entries, "entry", "entries")),
			report.OxbowText(text.FormatCount(o.Records, "record",
				"records")), report.OxbowText(text.FormatBytes(o.Bytes)))
		if o.LastLogHash != "" {
			r.AddDetailf("changes %d to %d, head %s", o.FirstSeq, o.LastSeq, o.LastLogHash)
		}
		if s := o.EarlierHashMatch; s != nil && s.Found {
			r.AddDetailf("since change %d, changes were only added: %d of them", s.Seq, o.LastSeq-s.Seq)
		}
		if h := o.SignedHeads; h != nil && h.MatchingHashCount > 0 {
			agree := text.FormatCount(h.MatchingHashCount, "signed head agrees", "signed heads agree")
			r.AddDetailf("%s with it, the last of change %d, by key %s", report.OxbowText(agree), h.LastSeq,
				h.PublicKey)
		}
	}
	r.Append(o.reportNotesAndLogTails())
	return r
}

// reportNotesAndLogTails lists the check's notes and the saved torn tails of the log. A torn tail is what an
// interrupted write left at the end of the log. Oxbow cut it off and saved it in a file. Neither notes nor torn tails
// are damage.
func (o CheckDataOut) reportNotesAndLogTails() (r report.Report) {
	for _, n := range o.Notes {
		r.AddNotef("%s", report.OxbowText(n))
	}
	if n := len(o.IncompleteLogTails); n > 0 {
		r.AddNotef(
			"%s in %s: what interrupted writes left, kept when it was cut off; nothing acknowledged is in it, and "+
				"nothing needs it",
			report.OxbowText(text.FormatCount(n, "torn tail is", "torn tails are")),
			filepath.Dir(o.IncompleteLogTails[0].File),
		)
	}
	return r
}

// addProblems adds each problem of a store with its remedy.
func addProblems(r *report.Report, store string, problems []verb.Problem) {
	r.AddLinef("%s has %s:", store, report.OxbowText(text.FormatCount(len(problems), "problem", "problems")))
	for _, p := range problems {
		what := report.Sentencef("%s", report.QuotedText(p.Description))
		if p.Offset >= 0 {
			what = report.Sentencef("byte %d: %s", p.Offset, report.QuotedText(p.Description))
		}
		r.Add(report.Line{Sentence: what, Indent: 2})
		if p.Mend != "" {
			r.Add(report.Line{Sentence: report.Sentencef("mend: %s", report.OxbowText(p.Mend)), Indent: 4})
		}
	}
}

// makeReport says whether the files of annotations are sound.
func (c *AnnotationsCheck) makeReport() (r report.Report) {
	if n := len(c.Problems); n > 0 {
		r.AddLinef("the annotations have %s:", report.OxbowText(text.FormatCount(n, "problem", "problems")))
		for _, p := range c.Problems {
			r.Add(report.Line{Sentence: report.Sentencef("%s %s", p.Position(), p.Description), Indent: 2})
		}
		r.Add(report.Line{Sentence: report.Sentencef("mend: %s", report.OxbowText(sidecarRepairAdvice)), Indent: 4})
	} else {
		r.AddDetailf("the annotations are sound: %d in %s", c.AnnotationCount,
			report.OxbowText(text.FormatCount(c.FileCount, "sidecar", "sidecars")))
	}
	if c.FilesWithIncompleteLine > 0 {
		r.AddNotef("%s with a write that was cut off: nothing acknowledged is in it",
			report.OxbowText(text.FormatCount(c.FilesWithIncompleteLine, "sidecar ends", "sidecars end")))
	}
	if c.FilesOfNewerFormat > 0 {
		r.AddNotef("%s by a newer oxbow, and passed over",
			report.OxbowText(text.FormatCount(c.FilesOfNewerFormat, "line was written", "lines were written")))
	}
	return r
}
