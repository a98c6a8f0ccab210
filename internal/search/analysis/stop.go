// This file lists stop words, which are words of a query that do not help to find anything.

package analysis

import (
	"strings"
	"sync"
)

// stopWords returns the set of the words that are ignored in a query that also has other words. They are articles,
// pronouns, prepositions, conjunctions, question words, auxiliary verbs, and words with which people phrase a question
// to a memory. The terms of documents include stop words, so that phrases with stop words can match. The words in the
// set are folded by [FoldText], and their endings after an apostrophe are removed.
var stopWords = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`
a an the this that these those
i me my mine myself we us our ours ourselves you your yours yourself he him his himself she her hers herself
it its itself they them their theirs themselves one ones s t d m ll ve re
who whom whose which what when where why how whether
am is are was were be been being isn aren wasn weren ain
have has had having haven hasn hadn
do does did doing done don doesn didn
can could will would shall should may might must ought cannot couldn won wouldn shan shouldn mightn mustn need needn
let lets
and or but nor so yet if then else than as because since while until unless although though
of in on at by for with without within about against between into through during before after above below
to from up down out off over under again further onto upon toward towards across along among around per via
not no yes any some all both each few more most other others another such only own same too very just also
many much lot lots
here there now ever never always already still even really quite
ago
tell told say said remind remember recall know know think thought mention mentioned
discuss discussed discussing discussion discussions talk talked talking conversation conversations
summarize summarise summarized summary describe explain
please hi hello hey ok okay thanks thank
something anything everything someone anyone thing things
get got go going went
`) {
		m[w] = true
	}
	return m
})

// IsStopWord reports whether a folded word is a stop word.
func IsStopWord(word string) bool { return stopWords()[word] }
