package names

// Dropbox's names for its second copy, by language. All are lower case, and a group must contain one of them.
var (
	// dropboxListed are confirmed (conflict-names.md, row 2).
	dropboxListed = []string{
		"in konflikt stehende kopie", "konfliktkopie", // de
		"en conflit",                              // fr
		"copia conflictiva", "copia en conflicto", // es
		"競合コピー", "上の問題のあるコピー", // ja
	}
	// dropboxOther are unconfirmed: they need a date and a base.
	dropboxOther = []string{
		"copia in conflitto", "copia conflittuale", // it
		"cópia em conflito", "cópia conflitante", "cópia conflituosa", // pt
		"conflicterende kopie", "kopie met conflict", "conflictkopie", // nl
		"konflikt", "kopia powodująca", // pl, sv, da, nb, cs and similar
		"конфликт", "конфлікт", // ru, uk
		"冲突", "衝突", // zh
		"충돌",                 // ko
		"çakışan", "çakışma", // tr
		"ristiriita",                     // fi
		"conflict", "conflit", "conflic", // other languages in Latin script
		"競合", "問題のあるコピー", // ja, other wordings
		"salinan konflik", "konflik", // id
		"xung đột",                // vi
		"ขัดแย้ง",                 // th
		"διένεξη", "αντικρουόμεν", // el
		"ütközés", // hu
	}
	// copyPrefixes precede the name of a copied file.
	copyPrefixes = []string{
		"copy of ",                          // en
		"kopie von ",                        // de
		"copie de ", "copie d'", "copie d’", // fr
		"copia de ",                      // es
		"copia di ",                      // it
		"cópia de ",                      // pt
		"kopie van ",                     // nl
		"kopia ", "kopi av ", "kopi af ", // pl, sv, nb, da
		"копия ", "копія ", // ru, uk
		"kopie souboru ",   // cs
		"kópia ", "kopio ", // sk, fi
	}
	// copyWords are the words that Finder and Explorer append.
	copyWords = []string{"copy", "kopie", "copie", "copia", "cópia", "kopia", "kopi", "kopio", "копия", "копія", "コピー", "のコピー", "副本", "的副本", "복사본"}
)
