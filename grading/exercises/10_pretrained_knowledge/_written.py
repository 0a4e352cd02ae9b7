"""What seven small models write behind questions, searched for once: it takes far too long to look for them in a draw.

A model is told by the seed of its weights. Letters a to g stand for the numbers 5 to 11; wherever a model writes one of
these answers, or something else, it prefers each number clearly.
No answer has more than 17 numbers: who stops after twenty is found by the long answer alone, for every student.
"""

from __future__ import annotations

LONGEST = 64  # of what the models read: enough for everybody who stops at all

# Kinds of pairs, in this order. Of the wrong ones, "special" leaves out a special token that the model writes among the
# numbers, of "first" only the first number is wrong, "beyond" goes on after <eos>, the next two are given only without
# <sos>, and when looked for one row too early. After the question of "endless" the model never comes to an end.
KINDS = ("right", "special", "first", "beyond", "without <sos>", "a row too early", "endless")

# seed -> for each kind pairs of question and answer, "question answer question answer ..."
WRITTEN: dict[int, tuple[str, ...]] = {
    562: (
        "fe acfeacbbbacb eefee acbbbbacb bbfa cbbbbgfeg fgf eacbbbbb eedcffa cbbbacb ccgcbce cbbb",
        "ggabacg cb afecbbg cbb feceeg cbbb",
        "cfgggaa acb cfgggaa bbb eegfcgf fecb aeff gacbbbb",
        "gbcd efecbbbb ccbe gfecbbbb fgf eacbbbbbb eaa cfecbbbbb",
        "ccgcbce cbbbb dgbbdg eeebbb dfaagb acbbbb ffgbg acbbbbg",
        "gbcd be cab cgbf ccgcbce bcbbb gbebdec ebbbb",
        "gddf eee dgfceed egf ef eac dgd efe",
    ),
    613: (
        "cbcc ddfcdddfcdfcdfc ebdbd cagbabab dddaga baaabab edfcaee fcabab gc dddb aceed b",
        "gagebcb abab cgdbbgf cabab acggee babab gbadee fcabab",
        "ebdbd abagbab ebdbd fcagbab ebdbd gbagbab dddaga caaabab",
        "aceed bf gc dddba deeadef cababf eedgeee bababf",
        "dddaga b fgeddc db cgfc ddb cdc dddb",
        "cdcd ddbb cdc dddbb eedgeee bbaabb cdbbefd cfacbd",
        "bgag aaa ffdacbf caa agad baa",
    ),
    871: (
        "db cabccccccccccf dgadced eabcccccf eceae deabcf acaaed edede ddecbbc ccccccccf cbgggad dedf",
        "ea ddededf cgc cdddedf ggedgeg cccccccf gc ccdddedf",
        "aebdb bcccccccccf ecbca abccccccccf ecbca edededeabcf",
        "cbgggad dedff acaaed ededef eceae deabcff",
        "egde a aee ab acaaed de cc ccede",
        "gggcec dcdcfc eceae bdcecdfe",
        "cgfb ccc adfac ded fe abc",
    ),
    873: (
        "ff dfdfdfdfdfgb dc cc dddb eb bcdbf c",
        "aadfff b cee c gfe df dbgd fb",
        "dc fc ffd beb",
        "bcdbf cc bgdaafg bb dc ccc dddb ebc",
        "bdcc c cefde b ddabd fc agc cc",
        "ddfa cb cdcb ca dee bb bcddff cc",
        "aafcaag bab afe baa fbb aba",
    ),
    921: (
        "abf ecbcbcbcbcbcbc ebdddb cbcbcf agfe cbcbcbcbcbcbc eeeda bcbcbcbcbcbcf bfeac bcbcbcbcbcbc",
        "fe c gdcda cbcbf addggeg cbcbcf dbeefc cbcbcbc",
        "bfeac dcbcbcbcbcbc eeeda dcbcbcbcbcbcf eeeda ecbcbcbcbcbcf",
        "ebdddb cbcbcff",
        "fcceebd cbcbcbcbcbc dbeefc bcbcbcbcbcbc cgefce cbcbcbcbcbcbc",
        "gdecgfd dccbbccbbcc ceffgdd ccbbccbbccb bfeac bbccbbccbbccb",
        "cdae cbc",
    ),
    977: (
        "dbeebfd babababaaaabg cgfccc abgggdbg edec abgg bafda abg cgdbced bgggdbg gdab g",
        "caagff g agabgd e ceabaf gg",
        "edec gg edec bgg ddcd abgg ddcd dbgg",
        "gdab gg aa fg fa eg eeace ggg",
        "aeeabge g adfd f gbdgda e gafeccf gg",
        "gdab eg egedbb gg abd gf effabd gb",
        "fdbabc abg",
    ),
    989: (
        "eaae ccccfefecgcgcgcg eadadg cfefef ecgadgf ecfef efgcdge cff bccfbfe cf",
        "egddefa gcf befb agcf gbbcda gcfef bdad bagcfef",
        "efgcdge dff",
        "bccfbfe cff ecgadgf ecfefg eadadg cfefefg",
        "ebbdbb ccf eadadg ccfefef",
        "ee fc efecfab ccff",
        "dbccgg cgc bacgg ccg",
    ),
}

# What a model of 400 words writes behind a question before it stops: a question, and an answer that is longer than any
# limit that somebody sets to be on the safe side.
LONG_SEED = 26
LONG_QUESTION = (387, 108, 342, 110)
LONG_ANSWER = (
    "125 272 272 277 395 104 208 208 208 208 208 208 208 208 208 208 208 208 208 208 208 208 108 332 83 253 287 "
    "332 171 24 316 208 208 208 208 208 308 370 387 103 120 11 332 349 318 159 39 265 265 14 187 360 34 365 279 "
    "34 222 144 316 316 316 316 316 316 316 316 316 316 316 316 316 316 208 208 208 208 208 208 208 208 208 208 "
    "208 208 208 208 208 208 208 208 208 208 208 208 208 208 208 208 208 11 332 71 103 182 11 332 371 12 140 84 "
    "122 337 360 180 293 138 389 120 11 332 371 12 140 197 63 265 293 138 262 149 195 191 86 118 27 323 279 331 "
    "361 208 11 8 249 361 360 182 182 182 182 182 186 208 208 208 208 208 208 360 182 182 182 11 332 248 332 291 "
    "8 306 235 180 53 115 380 144 380 144 380 144 380 144 398 209 213"
)
