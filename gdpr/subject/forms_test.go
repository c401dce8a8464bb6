package subject_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	unicode16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"

	"memdesk/gdpr/subject"
)

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func gz(s string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(s))
	_ = z.Close()
	return b.String()
}

func in(enc encoding.Encoding, s string) string {
	out, err := enc.NewEncoder().String(s)
	if err != nil {
		panic(err)
	}
	return out
}

var utf16le = unicode16.UTF16(unicode16.LittleEndian, unicode16.IgnoreBOM)

// sevenBits clears the highest bit of each byte.
func sevenBits(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] &= 0x7f
	}
	return string(b)
}

func gb(s string) string { return in(simplifiedchinese.GB18030, s) }

// forms are texts that name the subject, and texts that name a bystander.
var forms = map[string]struct{ yes, no []string }{
	"usr_1": {
		yes: []string{"usr_1", "UID:us\r\n r_1", "UID:usr\n\t_1", "asked usr_1.", "(usr_1)", "usr_1's", "@usr_1", "notes/usr_1.md", "user:usr_1", "usr_1@ noon", "usr%5F1", `\u0075sr_1`, b64("by usr_1, yes")},
		no:  []string{"usr_10", "usr_1.5", "usr_1-old", "usr_1_b", "xusr_1", "usr-1", "usr 1", "USR_1", b64("by usr_10, yes")},
	},
	"@maren_h":             {yes: []string{"@maren_h", "Maren_H", "ask @maren_h.", "t.me/maren_h", b64("by @maren_h, yes")}, no: []string{"@maren_h2", "@maren", "@maren_h_", "xmaren_h"}},
	"_maren_":              {yes: []string{"_maren_", "@_Maren_", "(_maren_)", b64("by _maren_, yes")}, no: []string{"maren", "_maren", "maren_", "__maren_", "x_maren_", "_maren__"}},
	"-1001234567890":       {yes: []string{`{"chat": -1001234567890}`, "-1001234567890"}, no: []string{"1001234567890", "5-1001234567890", "-10012345678901"}},
	"<ida_q@mail.example>": {yes: []string{"IDA_Q@mail.example", "<ida_q@mail.example>"}, no: []string{"ida@mail.example", "ida_q@mail.example.org"}},
	"_ida@mail.example":    {yes: []string{"to _ida@mail.example,"}, no: []string{"ida@mail.example", "x_ida@mail.example"}},
	"Ida Frost (Kiel)":     {yes: []string{"met Ida Frost (Kiel) there"}, no: []string{"Ida Frost (Kielce)"}},
	"subj-ana": {
		yes: []string{"SUBJ-ana", "n5-subj-ana", "subj-ana.md", "s\u200bubj-ana", "subj&#45;ana", "subj\u2010ana", hex.EncodeToString([]byte("of subj-ana"))},
		no:  []string{"subj-ana-2", "subj-ana2", "subj ana", "subj_ana", "subjana", "subj-ana.5"},
	},
	"ida.frost+news@mail.example": {
		yes: []string{"Ida.Frost+News@Mail.Example", "<ida.frost+news@mail.example>", "EMAIL:ida.frost+ne\r\n ws@mail.\r\n exam\r\n ple\r\n", "ida.frost+news&#64;mail.example said", "ida.frost=2Bnews@mail.example", "ida.frost%2Bnews%40mail.example", "mailto:ida.frost+news@mail.example.",
			"ida.frost\\u002bnews@mail.example", "ida.frost+news+AEA-mail.example"},
		no: []string{"ida.frost+news@mail.example.org", "ida.frost@mail.example", "idafrost+news@mail.example", "x.ida.frost+news@mail.example", "frida.frost+news@mail.example"},
	},
	"ida@münchen.example":      {yes: []string{"Ida@München.example", "<ida@xn--mnchen-3ya.example>", "IDA@XN--MNCHEN-3YA.EXAMPLE said", b64("by ida@xn--mnchen-3ya.example, yes")}, no: []string{"ida@xn--mnchen-3ya.example.org", "frida@xn--mnchen-3ya.example", "ida@xn--mnchen-3yb.example"}},
	"i@xn--r8jz45g.xn--zckzah": {yes: []string{"i@例え.テスト", b64("by i@例え.テスト, yes"), "I@xn--r8jz45g.xn--zckzah"}, no: []string{"i@例え.テス"}},
	"i@例え.テスト":                 {yes: []string{"i@xn--r8jz45g.xn--zckzah", b64("by i@xn--r8jz45g.xn--zckzah, yes")}, no: []string{"i@xn--r8jz45g.xn--zckzahb"}},
	"+49 30 5550 1234": {
		yes: []string{"+493055501234", "TEL:+49-30-55\r\n 501234", "030-55501234", "+49 (0)30 5550-1234", "0049 30 5550 1234", "+49 30 55 50 12 34", "030/55501234", "030 5550 1234.", "(030) 5550 1234", "tel:+49-30-5550-1234", "5 boats, 030 5550 1234"},
		no:  []string{"+49 40 5550 1234", "+1 305 550 1234", "30 5550 1234", "+49 30 5550 12345", "1030 5550 1234x", "0305550123499", "030 5550 1234-12", "+43 30 5550 1234"},
	},
	"Théa Lindström-Quay": {
		yes: []string{
			"THÉA LINDSTRÖM-QUAY", "Thea Lindstrom-Quay", "Thea Lindstroem-Quay", "Théa Lindström-\nQuay", "> Théa\n> Lindström-Quay", "Théa Lindström–Quay", "Théa Lindström Quay", "TheaLindstromQuay", "#théalindströmquay",
			"Lindström-Quay, Théa", "N:Lindström-Quay;Théa;;;", "thea-lindstroem-quay.md", "memory/2026-call_with-thea_lindstrom_quay-notes.md", "Théa **Lindström-Quay**", "<b>Théa</b> Lindström-Quay", "[Théa](x) Lindström-Quay",
			"FN:Théa Lind\r\n ström-Quay", "N:Lind\r\n ström-Quay;Thé\r\n a;;;", "SUMMARY:Th\xc3\r\n \xa9a Lindström-Qu\n\tay", b64("FN:Théa Lind\r\n ström-Quay\r\n"),
			"Théa Lind-\n  ström-Quay", "Théa Lindström-Quays boat", norm.NFD.String("Théa Lindström-Quay"), "Тhéa Lindström-Quay", "Th\u200béa\u00a0Lindström-Quay", "ＴＨÉＡ Lindström-Quay",
			`Th\u00e9a Lindstr\u00f6m-Quay`, `Th\xe9a Lindstr\xf6m-Quay`, `Th\u{e9}a Lindstr\u{f6}m-Quay`, `Th\303\251a Lindstr\303\266m-Quay`, "Th&eacute;a Lindstr&#246;m-Quay", "Th&eacutea Lindstr&#246m-Quay", "Th%C3%A9a+Lindstr%C3%B6m-Quay", "Th%25C3%25A9a%2520Lindstr%25C3%25B6m-Quay",
			"Th=C3=A9a Lind=\nstr=C3=B6m-Quay", "=?utf-8?Q?Th=C3=A9a?= =?utf-8?Q?_Lindstr=C3=B6m-Quay?=", "Th+AOk-a Lindstr+APY-m-Quay", "Th\xe9a Lindstr\xf6m-Quay", b64("met Théa Lindström-Quay"), b64(b64("met Théa Lindström-Quay")), b64(gz("met Théa Lindström-Quay today")),
			b64("met TheA LiNdSTröM-QUAY"), base32.StdEncoding.EncodeToString([]byte("of Théa Lindström-Quay")), hex.EncodeToString([]byte("Théa Lindström-Quay")), strings.ToUpper(hex.EncodeToString([]byte("by Théa Lindström-Quay."))),
			string(wide("met Théa Lindström-Quay", false)), string(wide("Théa Lindström-Quay", true)), hex.EncodeToString(wide("Théa Lindström-Quay", true)), `{"n":"Th\u00e9a\nLindström-Quay"}`, "a/b/" + b64("to Théa Lindström-Quay."),
		},
		no: []string{"Théa Lindström", "Théa Lind\n  ström-Quay", "Théa Lind\n\n ström-Quay", "Théa Lindström-Quaye", "Anthéa Lindström-Quay", "Théa Lindström-Quay-Berg", "Théa. Lindström-Quay", "Théa/Lindström-Quay", "Jean-Théa Lindström-Quay", "Lindström-Quay Théa", "Théa\n\nLindström-Quay", b64("met Théa Lindström")},
	},
	"Végan Mülåpøk-Qøgügéx":     {yes: []string{"Muelaapoek-Qoeguegéx, Végan", "Végan Muelaapoek-Qoegueg=C3=A9x"}, no: []string{"Végan Muelaapoek-Qoegueg=C3=A9xa"}},
	"Jürgen Groß":               {yes: []string{"JÜRGEN GROSS", "Juergen Gross", "Jurgen Gross", "jürgen-gross", "JÜRGEN GROẞ", `J\'fcrgen Gro\'df.`, `{\rtf1 J\u252\'fcrgen Gro\u223\'df}`}, no: []string{`J\'fcrgen Gro\'dfmann`, "Jürgen Grossmann", "Jorgen Gross"}},
	"สมชาย วงศ์ไทย":             {yes: []string{"พบสมชาย วงศ์ไทย", in(charmap.Windows874, "พบ สมชาย วงศ์ไทย ที่นี่")}, no: []string{"สมหญิง วงศ์ไทย"}},
	"Märit Weißgärber":          {yes: []string{"Märit Weiβgärber", "MAERIT WEIΒGÄRBER", "marit-weissgaerber"}, no: []string{"Märit Weibgärber", "Märit Weiβgärberin"}},
	"Siobhán O'Neill":           {yes: []string{"siobhan-oneill", "siobhan_oneill.md", "siobhan-o-neill", "Siobhán O´Neill", "Siobhán O`Neill", `Siobhán O\'Neill`, "Siobhán O''Neill", "Siobhán O’Neill", "Siobhán Oʼ\u200bNeill", "Siobhán OʼNeill", "Siobhan O&#39;Neill", "O'Neill, Siobhán"}, no: []string{"Siobhán O'Neil", "Siobhán Neill"}},
	"Jean-Pierre Dubois-Martel": {yes: []string{"Jean Pierre Dubois Martel", "Jean–Pierre Dubois–Martel", "JeanPierre DuboisMartel"}, no: []string{"Jean Dubois-Martel"}},
	"محمد علي":                  {yes: []string{"مُحَمَّد عَلِي", "محـمد علي", "ومحمد علي", "لمحمد علي."}, no: []string{"محمدي علي"}},
	"משה כהן":                   {yes: []string{"מֹשֶׁה כֹּהֵן", "ומשה כהן"}, no: []string{"משהו כהן"}},
	"王小明":                       {yes: []string{in(simplifiedchinese.HZGB2312, "boat of 王小明."), b64(in(utf16le, "王小明")), in(utf16le, "客户王小明来电"), "客户王小明来电", "王 小 明", "王小\n明", gb("客户王小明来电"), b64(gb("客户王小明来电")), in(japanese.EUCJP, "田中王小明"), in(traditionalchinese.Big5, "客王小明"), b64("客户王小明来电")}, no: []string{"王小民", "王、小明"}},
	"Gekon-Bago Qabakix":        {yes: []string{in(utf16le, "met Gekon-Bago Qaba-\nkix today"), string(wide("met Gekon-Bago Qaba-\r\nkix today", true)), b64(in(utf16le, "Gekon-Bago Qaba-\nkix. Then left\n"))}, no: []string{in(utf16le, "met Gekon-Bago Qaba\nkix"), in(utf16le, "Gekon-Bago Qaba-\nkixen")}},
	"Иванов":                    {yes: []string{b64(in(utf16le, "Иванов")), hex.EncodeToString([]byte(in(utf16le, "Иванов"))), "ИВАНОВ"}, no: []string{"Иванова", "Ивановым"}},
	"Иван Петров": {yes: []string{b64(in(utf16le, "Иван Петров")), "ИВАН ПЕТРОВ", "Петров, Иван", "%D0%98%D0%B2%D0%B0%D0%BD%20%D0%9F%D0%B5%D1%82%D1%80%D0%BE%D0%B2", string(wide("с Иван Петров", false)), "Ивана Петрова", "у Ивану\nПетрову", "с Иваном Петровым", "об Иване Петрове", "Петрова, Ивана", "Петров Иван", "о Петрове Иване",
		in(charmap.Windows1251, "пишет Иван Петров"), `\'c8\'e2\'e0\'ed \'cf\'e5\'f2\'f0\'ee\'e2`, "=C8=E2=E0=ED=20=CF=E5=F2=\r\n=F0=EE=E2", in(charmap.KOI8R, "о Иване Петрове"), in(charmap.CodePage866, "пишет Иван Петров"), in(charmap.ISO8859_5, "пишет Иван Петров"), hex.EncodeToString([]byte("с Иваном Петровым")), b64("Ивану Петрову")}, no: []string{"Иван Петровский", "Ивана Петров", "Иванова Петрова", "Ивана Петровна"}},
	"Мария Толстая":                        {yes: []string{"Марии Толстой", "МАРИЮ ТОЛСТУЮ", hex.EncodeToString([]byte("с Марией Толстой"))}, no: []string{"Мария Толстовна", "Марии Толстовой"}},
	"Павел Никитин":                        {yes: []string{"Павла Никитина", "с Павлом Никитиным"}, no: []string{"Павлина Никитина"}},
	"Анна Римская-К":                       {yes: []string{"Анну Римская-К"}, no: []string{"Анна Римская"}},
	"田中花子":                                 {yes: []string{in(japanese.ISO2022JP, "と田中花子さん"), in(japanese.ISO2022JP, "田中 花子"), b64(in(japanese.ISO2022JP, "船は田中花子の")), `{"t":"\u001b$B` + in(japanese.ISO2022JP, "田中花子")[3:] + `"}`, b64(in(utf16le, "田中花子")), hex.EncodeToString([]byte(in(utf16le, "この田中花子"))), in(japanese.ShiftJIS, "田中花子さん"), in(japanese.EUCJP, "と田中花子"), "田中　花子"}, no: []string{"田中花"}},
	"김민준":                                  {yes: []string{"\x1b$)C\x0e" + sevenBits(in(korean.EUCKR, "그리고김민준")) + "\x0f.", b64(in(utf16le, "김민준")), in(korean.EUCKR, "그리고 김민준 씨")}, no: []string{"김민수"}},
	"Νίκος Παππάς":                         {yes: []string{in(charmap.Windows1253, "ο Νίκος Παππάς"), "ΝΙΚΟΣ ΠΑΠΠΑΣ"}, no: []string{"Νίκος Παπ"}},
	"Lüsan Søsüpük-Qovitax":                {yes: []string{"met Luesan Soesuepuek-Qovit=\r\nax, and", "> met Luesan Soesue=\r\n> puek-Qovitax", ">> Lü=\n>> san Søs=\n>> üpük-Qovitax", "- Luesan Soesue=\n  puek-Qovitax", "so=\n Luesan Soesue=\npuek-Qovitax"}, no: []string{"met Luesan Soesuepuek-Qovit=\r\naxe", "> Luesan Soesuepuek-Qovit=\n> axe", "Luesan Soesue=\n puek-Qovitax"}},
	"Zoë Ångström":                         {yes: []string{"CV_Zoë Ångström.md", "2024_Zoë Ångström_contract.md", "Case_Zoë Ångström/y.md", "Zoë Ångströms_CV", "CV_Ångström, Zoë.pdf", "v_Zoë%20Ångström.pdf", "_Zoë Ångström_", `{"customer_Zoë Ångström": 1}`}, no: []string{"CV_Zoë Ångströms-Berg", "CV-Zoë Ångström", "XZoë Ångström"}},
	"+49 151 5550 1234":                    {yes: []string{"call_+49 151 5550 1234_now", "tel_0151 55501234_x", "+49_151_55501234", "<w:t>+49 151 </w:t></w:r><w:r><w:t>5550 1234</w:t>", "+49 151 55<wbr>50 1234", "+49 151 **5550 1234**"}, no: []string{"7_0151 55501234", "0151 55501234_7", "0151 5550<wbr>12345", "x0151 55501234"}},
	"maren.h@example.test":                 {yes: []string{`maren\.h\@example\.test`, `{"o":"\u001b[4mmaren.h@example.test\u001b[0m>"}`, "maren.h@example.test_x", "maren<b>.h</b>@example.test"}, no: []string{"from_maren.h@example.test", "maren.h@example.test-x"}},
	"usr_8f3a22":                           {yes: []string{`usr\_8f3a22`, "id \x1b[36musr_8f3a22\x1b[39m", "\x1b[2K\x1b[1Gusr_8f3a22", "<w:t>usr_</w:t></w:r><w:r><w:t>8f3a22</w:t>", "=?utf-8?Q?usr=5F8f3a22_asks_again?=", "=?utf-8?Q?of?=\r\n =?utf-8?Q?_usr=5F8f3a22_x?="}, no: []string{"<b>usr-</b>8f3a22", "=?utf-8?Q?x=5Fy?x_usr_8f3a22_y", "x_usr_8f3a22"}},
	"Li Ke":                                {yes: []string{"met LiKe", "#LiKe", "li-ke.md", "li_ke", "@like", "like@example.test", "li ke said", "LI KE", "Ke, Li"}, no: []string{"I like rye", "LIKE", "Like this", "unlike"}},
	"aholt42":                              {yes: []string{`C:\Users\aholt42\.claude`, `\\host\aholt42\@work`}, no: []string{`aholt42.claude`}},
	"Ana Holt":                             {yes: []string{"/home/anaholt/x", `C:\Users\anaholt\x`}, no: []string{"an anaholt"}},
	"Пётр Котов":                           {yes: []string{"ФИО Котов Пётр Сергеевич"}},
	"Mark Down":                            {yes: []string{"MarkDown", "mark-down"}, no: []string{"in markdown", "Markdown", "MARKDOWN"}},
	"王 小明":                                 {yes: []string{"客户王小明来电", "王 小明"}, no: []string{"王小民"}},
	"Ottokar":                              {yes: []string{"Subject: =?utf-8?q?Re=3A_Ottokar_asks_again?="}, no: []string{"Re_Ottokar_asks"}},
	"Björk":                                {yes: []string{"To: =?iso-8859-1?Q?Bj=F6rk_x?= <a@b.test>"}, no: []string{"To: =?iso-8859-1?Q?Bj=F6rka_x?="}},
	"k-99312":                              {yes: []string{"=?utf-8?q?kunde_k-99312_ruft?="}, no: []string{"kunde_k-99312_ruft"}},
	"Łukasz Żółć":                          {yes: []string{`{\rtf1\ansi\ansicpg1252 We met \u321?ukasz \u379?\u243\'f3\u322?\u263? at}`, `met \u321?ukasz \u379?\u243?\u322?\u263?.`, `{\rtf1 {\b \u321 Lukasz}{\rtlch\fcs1 \af0\insrsid53 \~\u379?\u243?\u322?}\u263c.}`}, no: []string{`{\rtf1 \u321?ukasz\par \u379?\u243?\u322?\u263? at}`}},
	"Яна Ковалёва":                         {yes: []string{`{\rtf1 \u1071?\u1085?\u1072? \u1050?\u1086?\u1074?\u1072?\u1083?\u1105?\u1074?\u1072? x}`, `{"t":"{\\rtf1 \\u1071?\\u1085?\\u1072? {\\b \\u1050?\\u1086?\\u1074?\\u1072?\\u1083?\\u1105?\\u1074?\\u1072?} x}"}`}, no: []string{`{\rtf1 \u1071?\u1085?\u1072?\cell \u1050?\u1086?\u1074?\u1072?\u1083?\u1105?\u1074?\u1072? x}`}},
	"朴西渊":                                  {yes: []string{`{\rtf1 \u26420?\u-30337?\u28170? x}`}, no: []string{`{\rtf1 \u26420?\u28170? x}`}},
	"Maren Holt":                           {yes: []string{"met Holt, Maren there", "Patient Holt, Maren Anna", "Invoice Holt, Maren.pdf", "met Holt, Maren and Tom", "to Holt, Maren Anna", "Dr. Holt, Maren", "N:Holt;Maren", "**Holt**, Maren", "Berg\nHolt, Maren", `Maren\_Holt`, "\x1b[31mMaren Holt\x1b[0m wrote", "\x1b[1mMaren\x1b[0m Holt", `{"d":"\u001b[33mMaren Holt\u001b[39m"}`, `\e[33mMaren Holt`, `\033[1mMaren Holt`, "x\x1b[31mMaren Holt", `/Author(\376\377\000M\000a\000r\000e\000n\000\040\000H\000o\000l\000t)`, `{\rtf1 We met {\b Maren} Holt at}`, `{\rtf1 We met Maren\~Holt at}`, `{\rtf1 We met Ma\b ren\b0  Ho` + "\r\n" + `lt at}`}, no: []string{"Attendees: Anna Holt, Maren Berg", "Peter Holt,Maren Berg", "Anna Holt; Maren Berg", "| Anna Holt, Maren Berg | x |", "Anna Holt, Maren and Tom", "Anna Holt, Maren, Tom", "Anna-Maren Holt, Maren Holt-Jensen", "* Anna Maren\n* Holt Jansen", "- Maren\n- Holt", "* Maren\n* Holt", "<li>Anna Maren</li><li>Holt Berg</li>", "<p>Anna Maren</p><p>Holt Berg</p>", "## Anna Maren\n## Holt Berg", `{\rtf1 Maren\par Holt}`, `{\rtf1 Maren\cell Holt}`, `{Maren} {Holt}`}},
	"علی کریمی":                            {yes: []string{"با علي كريمي", "على كريمى", in(charmap.Windows1256, "مع علي كريمي هنا")}, no: []string{"علي كرمي"}},
	"Jörg Müller":                          {yes: []string{"JÃ¶rg MÃ¼ller", "Jo¨rg Mu¨ller", "; met Jörg\n; Müller", "% met Jörg\n% Müller", "//! Jörg\n//! Müller", `x\0Jörg Müller\0y`, `J\u00c3\u00b6rg M\u00c3\u00bcller`, "JÃƒÂ¶rg MÃƒÂ¼ller", "met J\u00c3\u00b6rg M\u00c3\u00bcller", "==Jörg== Müller"}, no: []string{"JÃ¶rg MÃ¼llerin", "JÃ¤rg MÃ¼ller", "Jörg == Müller", "Jörg % Müller", "Jörg! Müller", "Jörg;\nMüllers"}},
	"550e8400-e29b-41d4-a716-446655440000": {yes: []string{"550e8400e29b41d4a716446655440000", "user_550e8400-e29b-41d4-a716-446655440000", "550E8400-E29B-41D4-A716-446655440000_x"}, no: []string{"550e8400-e29b-41d4-a716-446655440001", "1550e8400e29b41d4a716446655440000", "550e8400-e29b41d4-a716-446655440000"}},
	"0049 151 5550 9876":                   {yes: []string{"+49 151 55509876", "0151 55509876"}, no: []string{"+43 151 55509876"}},
	"Ann":                                  {yes: []string{"Ann said", "ANN"}, no: []string{"ann", "Anna", "Ann-Marie", "Mary-Ann"}},
	"0000 0002 1825 0097":                  {yes: []string{"ORCID 0000 0002 1825 0097."}, no: []string{"0000 0002 1825 00971"}},
	"+800 1234 5678":                       {yes: []string{"call +800 1234 5678.", "00800 12345678", "tel:+80012345678"}, no: []string{"1234 5678", "+49 800 1234 5678", "+800 1234 56789"}},
	"DE44 5001 0517 5407":                  {yes: []string{"?q=DE44+5001+0517+5407&a=1"}, no: []string{"?q=DE44+5001+0517+54079"}},
	"o'hara@example.test":                  {yes: []string{"VALUES('o''hara@example.test')"}, no: []string{"ohara@example.test"}},
	"d'Arc":                                {yes: []string{"d'Arc", "VALUES('d''Arc')"}, no: []string{"d'arc"}},
	"Łukić":                                {yes: []string{"ŁUKIĆ", in(charmap.Windows1250, "pan Łukić"), in(charmap.Windows1250, "LUKIć"), "Lukic", "&#321;uki&#263;", "&#321uki&#263", "pan &#321uki&#x107 x"}, no: []string{"Lukicevic"}},
}

// TestForms searches with Matcher in a text, in a stream and in a binary medium, and with Index, which
// knows only hashes: all must agree.
func TestForms(t *testing.T) {
	hash := func(label, text string) subject.Sum {
		h := sha256.Sum256([]byte(label + "\x00" + text))
		return subject.Sum(h[:16])
	}
	for id, tt := range forms {
		m := matcher(t, id)
		x := subject.NewIndex(subject.Sealed(id, hash), hash)
		ask := func(text string, want bool) {
			t.Helper()
			if m.Names(text) != want {
				t.Errorf("%s: Names(%q) = %v", id, text, !want)
				return
			}
			got := m.Redact(text, "[erased]")
			if m.Names(got) || (got == text) == want {
				t.Errorf("%s: Redact(%q) = %q", id, text, got)
			}
			if m.NamesBytes([]byte(text)) != want {
				t.Errorf("%s: NamesBytes(%q) = %v", id, text, !want)
			}
			if edited, ok := m.RedactBytes([]byte(text), "[erased]"); ok && m.NamesBytes(edited) {
				t.Errorf("%s: RedactBytes(%q) = %q", id, text, edited)
			}
			rep, err := m.Scan(t.Context(), strings.NewReader(text), nil)
			if embedded := rep.By[subject.Embedded]; err != nil || rep.Hits-embedded > 0 != want {
				t.Errorf("%s: Scan(%q) = %+v, %v", id, text, rep, err)
			}
			known := false
			_ = x.Find(t.Context(), text, func(_ int, clear string, _, _ int) bool {
				known = true
				if again := matcher(t, clear); !again.Names(text) {
					t.Errorf("%s: in %q stands %q, which is not found there", id, text, clear)
				}
				return false
			})
			if known != want {
				t.Errorf("%s: Index in %q: %v", id, text, known)
			}
		}
		for _, text := range append(tt.yes, id, "of "+id+", and") {
			ask(text, true)
			if rep, err := m.Scan(t.Context(), strings.NewReader("SQLite format 3\x00\x10\x00\x01\x05 a row of a table that has notes in it: "+text+"\x00\x01"), nil); err != nil || rep.Hits == 0 && len(id) > 5 && !strings.Contains(text, "\x00") {
				t.Errorf("%s: %q in a binary medium: %+v, %v", id, text, rep, err)
			}
		}
		for _, text := range tt.no {
			ask(text, false)
		}
	}
}

// TestEncodedLineBesideWords: a line of base64 that holds the name is taken without the words above and below.
func TestEncodedLineBesideWords(t *testing.T) {
	m := matcher(t, "Maren Holt")
	long := base64.StdEncoding.EncodeToString([]byte("a longer note that says what Maren Holt wanted, and more of it"))
	for text, want := range map[string]string{
		"TWFyZW4gSG9sdA\nnext":                     "[erased]\nnext",
		"TWFyZW4gSG9sdA\nnext\nwords":              "[erased]\nnext\nwords",
		"words\nTWFyZW4gSG9sdA==\nnext":            "words\n[erased]\nnext",
		"words\n" + long[:76] + "\n" + long[76:]:   "words\n[erased]",
		long[:40] + "\n" + long[40:80] + "\nnext":  "[erased]",     // perhaps its last line
		long[:38] + "\n" + long[38:70] + " and":    "[erased] and", // a name across lines of any width
		b64("by Maren Ho") + "\n" + b64("lt said"): b64("by Maren Ho") + "\n" + b64("lt said"),
	} {
		if got := m.Redact(text, "[erased]"); got != want {
			t.Errorf("Redact(%q) = %q; want %q", text, got, want)
		}
	}
}

// TestQuotesBehindAnEscapeAreNoRTF: JavaScript escapes quotation marks as RTF escapes bytes.
func TestQuotesBehindAnEscapeAreNoRTF(t *testing.T) {
	for id, texts := range map[string][]string{
		"Jana Krň":     {`'of Jana Kr\u0148\'s notes'`, `{\rtf1 Jana Kr\u328\'f2 x}`, `{\rtf1 Jana Kr\u328\'3f x}`},
		"Seán O'Dea":   {`'Se\u00e1n O\'Dea'`, `{\rtf1 Se\'e1n O\'92Dea}`},
		"Zoë O'Brien":  {`'Zo\u00eb O\u2019Brien'`, `{\rtf1 Zo\u235\'eb O\u8217\'92Brien}`},
		"Zoë Ångström": {`'Zo\u00eb \u00c5ngstr\u00f6m\u2019\'a9'`},
		"Иван Петров":  {`{\rtf1 \u1048\'c8\u1074\'e2\u1072\'e0\u1085\'ed \u1055\'cf\u1077\'e5\u1090\'f2\u1088\'f0\u1086\'ee\u1074\'e2}`},
	} {
		for _, text := range texts {
			if m := matcher(t, id); !m.Names(text) {
				t.Errorf("%s is not found in %s", id, text)
			}
		}
	}
}

func newGzip(b []byte) (*gzip.Reader, error) { return gzip.NewReader(bytes.NewReader(b)) }

// TestInTheSameBlock: text next to an encoding, or inside a word, must hide no name at any offset.
func TestInTheSameBlock(t *testing.T) {
	m := matcher(t, "Ana Ribeiro")
	encoded := base64.StdEncoding.EncodeToString([]byte("by Ana Ribeiro"))
	for _, text := range []string{
		"someCamelCase(" + encoded + ")", `{"sessionKey":"AbCdEfGhIj","note":"` + encoded + `"}`,
		`{"t":"said Ana Rib-\neiro"}`, `{"t":"said Ana Rib-\r\n  eiro"}`, `{"t":"{\"t\":\"Ana Rib-\\neiro\"}"}`, `{"t":"N:Ana Rib\n eiro"}`,
		`{"t":"from:\nRibeiro, Ana\n"}`, "Ana [Rib](x)eiro", "Ana Rib~~ei~~ro", "Ana Rib<b></b>eiro",
	} {
		for pad := range 2 * 128 { // across the end of a block of bytes
			if s := strings.Repeat(".", pad) + " " + text + " there"; !m.Names(s) {
				t.Errorf("not found behind %d bytes in %s", pad, text)
				break
			}
		}
	}
}
