/*
 * What the reader knows of languages, as data. A row has the words of one language by their role; phrases are separated
 * by `|`. A word may have several roles. A language is a row and nothing else: no rule of the reader names one.
 */

/** What a word does in a sentence that states an answer. */
export const ROLES = [
  'answer', // names the answer: "answer"
  'option', // names a choice: "option". It states an answer only with a verb
  'plural', // several of them: "options"
  'pick', // a verb that takes a choice: "pick"
  'is', // joins a subject and what it is: "is"
  'was', // such a verb of the past or of chance, which states no answer, but may deny one: "was", "can be"
  'may', // makes a statement a guess: "could"
  'so', // begins a conclusion: "therefore"
  'say', // begins a statement without a subject: "it is", "I would say"
  'correct', // praises a choice: "correct"
  'wrong', // rejects the choice before it: "is wrong"
  'no', // rejects the choice after it: "not"
  'filler', // may stand between a word and what it names: "clearly"
  'a', // the same, but an indefinite article: "A is an answer" states none
  'join', // joins names to a list: "and"
  'because', // begins a reason, which names nothing: "because"
  'but', // ends what is denied: "but"
  'if', // begins a condition, which states nothing: "if"
  'that', // begins a relative clause: "which"
  'wait', // begins a correction: "wait"
  'maybe', // begins a guess: "perhaps"
  'other', // makes the subject another one than the answer: "other"
  'carrier', // carries a letter that is no label: "vitamin"
  'who', // may pick a choice here: "I"
  'rest', // names what is left: "leaving"
] as const;

/** `verbless` says of a choice what it says without a verb: the words for right and wrong of some languages. */
export type Role = (typeof ROLES)[number] | 'verbless';

export interface Language extends Partial<Readonly<Record<(typeof ROLES)[number], string>>> {
  readonly code: string;
  /** Whether its script is Latin: its words count only where a text is in this language. */
  readonly isLatin?: boolean;
  /** Whether its words count in every text: models mix it with all others. */
  readonly isAlways?: boolean;
  /** Whether right and wrong need no verb. */
  readonly isVerbless?: boolean;
  readonly letters?: string;
  /** What may follow an apostrophe after a label. */
  readonly suffixes?: string;
}

export const LANGUAGES: readonly Language[] = [
  {
    code: 'en',
    isLatin: true,
    isAlways: true,
    letters: 'a|i|o',
    answer: 'answer|ans|answer key',
    option: 'option|choice|pick|selection|letter|alternative',
    plural: 'answers|options|choices|letters|alternatives|selections',
    pick: 'pick|select|choose|go with|going with|picking|choosing|selecting|opt for|settle on|vote for|lean toward|lean towards|leaning toward|leaning towards',
    who: "i|we|i'd|i'll|let's|to|you|must",
    is: 'is|are|be|equals',
    was: 'was|were|been|being|has been|have been|gets|get|seems|looks|appears|can be|could be|may be|does|do|did|can|could',
    may: 'could|might|may|could be|might be|may be|could also|might also|may also',
    so: 'so|therefore|thus|hence|consequently|accordingly|in conclusion|to conclude|in summary|to sum up|as a result|it follows that|it follows|final|conclusion|verdict|in short|overall|ergo',
    rest: 'this leaves|which leaves|that leaves|leaves|leaving|this leaves us with|leaving us with|leaving only|which leaves only|what remains is|that remains is|remaining',
    say: "it is|it's|it must be|it should be|it would be|it has to be|it will be|this is|that is|that's|i'd say|i would say|i say|my guess is|i mean|i meant|i think it is|i think it's|i believe it is|i believe it's|i am confident it is|make it",
    correct: 'correct|right|best|accurate|the one|most accurate|most appropriate|most likely|✅|✓|✔|☑',
    wrong:
      'incorrect|wrong|false|untrue|eliminated|ruled out|excluded|impossible|invalid|inaccurate|rejected|discarded|out|irrelevant|unlikely|less likely|less accurate|a distractor|distractors|no good|mistake|mistaken|erroneous|error|❌|✗|✘|❎',
    no: "not|anything but|never|neither|nor|cannot|rule out|rules out|ruled out|ruling out|eliminate|eliminates|eliminated|eliminating|exclude|excludes|excluded|excluding|except|except for|other than|instead of|rather than|as opposed to|unlike|than|over|reject|rejects|rejected|discard|discarded|dismiss|without|isn't|aren't|wasn't|can't|won't|don't|doesn't|didn't|couldn't|wouldn't|shouldn't|haven't|hasn't|ain't|avoid",
    filler:
      'the|therefore|clearly|likely|most likely|definitely|certainly|indeed|thus|then|hence|probably|simply|just|actually|obviously|surely|undoubtedly|must|should|would|will|has to|have to|now|my|our|your|final|following|both|either|only|also|in fact|no doubt|without doubt|without a doubt|without question|not only|that|of course|as follows|given as|known as|called|labeled|labelled|number|still|indeed the|evidently|it seems|apparently|nothing but|namely',
    a: 'a|an|one of',
    join: 'and|or|nor|as well as|versus|vs|to|plus|along with|together with|and also|or possibly|or maybe|or perhaps|or even|and possibly|but also|through|otherwise',
    because: 'because|since|as|due to|given|given that|for the reason|considering|where|for',
    but: 'but|however|yet|instead|whereas|while|although|though|unlike the|leaving|leaving only|which leaves|it is rather|not only',
    if: 'if|suppose|supposing|assume|assuming|whether|unless|imagine|say that|let us assume|had',
    that: "that|which|who|that's|what|statement",
    wait: 'wait|actually|no|correction|sorry|oops|hmm|scratch that|hold on|on second thought|on second thoughts|on reflection|my mistake|i was wrong|wait no|let me correct that|edit|update|revised|nope',
    maybe:
      'maybe|perhaps|possibly|alternatively|or maybe|or perhaps|or|or possibly|could also be|might also be|it could be|it could also be|it might be|it may be|it might also be|could be|might be|may be|but maybe|but possibly|but perhaps|but it could be|but it could also be|but it might be|but it may be|although it could be|though it could be|i could also see',
    other:
      'other|another|second|previous|first|initial|tempting|common|worst|least|next|incorrect|wrong|false|earlier|provisional|popular|naive|excluded|remaining|reject|each|every|any|no|this',
    carrier:
      'vitamin|vitamins|hepatitis|plan|type|group|class|grade|figure|fig|section|part|schedule|influenza|appendix|point|points|team|line|side|variable|event|events|matrix|set|person|company|country|city|town|student|product|country|angle|vertex|node|box|bag|train|statement|factor|phase|stage|step|table|room|gate|exhibit|item',
  },
  {
    code: 'de',
    isLatin: true,
    answer: 'antwort|lösung|ergebnis|endantwort',
    option: 'option|auswahl|wahl|antwortmöglichkeit|möglichkeit|buchstabe|aussage',
    plural: 'antworten|optionen|möglichkeiten',
    pick: 'wähle|nehme|wählen|entscheide mich für|tippe auf',
    is: 'ist|sind|lautet|wäre|sein|heißt',
    was: 'war|wurde|wird|kann|scheint',
    may: 'könnte|könnten',
    so: 'also|daher|somit|folglich|deshalb|demnach|deswegen|mithin|insgesamt|fazit',
    rest: 'bleibt|es bleibt',
    say: 'es ist|das ist|ich würde sagen|es muss',
    correct: 'richtig|korrekt|richtige|korrekte|richtigen|korrekten|beste|besten|stimmt|zutreffend',
    wrong:
      'falsch|inkorrekt|ausgeschlossen|nicht|unzutreffend|stimmt nicht|scheidet aus|scheiden aus|kein|keine|unmöglich',
    no: 'nicht|kein|keine|keinen|außer|weder|noch|statt|niemals|schließe|schließt|als',
    filler:
      'die|der|das|den|dem|hier|klar|wohl|wahrscheinlich|demnach|daher|eindeutig|damit|also|somit|nur|eigentlich|sicher|muss|müsste|sollte|meine|finale|endgültige|nicht nur|sowohl',
    a: 'ein|eine|einen',
    join: 'oder|und|sowie|bzw|beziehungsweise|als auch',
    because: 'weil|da|denn|wegen|aufgrund',
    but: 'sondern|aber|jedoch|doch|während|obwohl',
    if: 'wenn|falls|ob|angenommen',
    that: 'die|der|das|welche',
    wait: 'moment|halt|korrektur|nein|warte|doch nicht',
    maybe: 'vielleicht|eventuell|möglicherweise|oder vielleicht|es könnte auch|oder',
    other: 'andere|falsche|anderen|falschen|erste|zweite|welche',
    carrier: 'vitamin|gruppe|klasse|typ|teil|abbildung',
  },
  {
    code: 'fr',
    isLatin: true,
    letters: 'a|à|y|ô',
    answer: 'réponse|reponse|solution',
    option: 'option|choix|lettre|proposition|alternative',
    plural: 'réponses|options|choix|propositions',
    pick: 'choisis|sélectionne|choisit|choisir|opte pour',
    is: 'est|sera|serait|être|sont',
    was: 'était|peut|semble|a',
    may: 'pourrait|pourraient',
    so: "donc|ainsi|par conséquent|alors|en conclusion|finalement|c'est pourquoi|en résumé",
    rest: 'reste|il reste',
    say: "c'est|ce serait|je dirais|il s'agit de",
    correct: 'correcte|correct|bonne|juste|exacte|bon|meilleure|exact|correctes',
    wrong: 'fausse|faux|incorrecte|incorrect|pas|exclue|éliminée|inexacte|erronée|fausses|incorrectes',
    no: "pas|ne|n'|sauf|élimine|exclut|exclus|ni|jamais|éliminer|exclure|plutôt que|excepté|que pas",
    filler:
      "la|le|l'|les|bien|clairement|probablement|certainement|finale|donc|doit|correcte|bonne|ma|celle|évidemment|sûrement|très probablement|à la fois|soit",
    a: 'un|une',
    join: 'ou|et|ainsi que|ou bien|soit',
    because: "car|parce que|parce qu'|puisque|étant donné",
    but: 'mais|cependant|tandis que|alors que|plutôt|bien que',
    if: "si|supposons|s'",
    that: 'qui|que',
    wait: 'attendez|non|en fait|correction|pardon|attends',
    maybe: 'peut-être|peut être|ou peut-être|ou|éventuellement',
    other: 'autre|mauvaise|fausse|première|quelle|autres',
    carrier: 'vitamine|groupe|classe|type|figure|partie',
  },
  {
    code: 'es',
    isLatin: true,
    letters: 'a|e|o|u|y',
    answer: 'respuesta|solución|contestación',
    option: 'opción|opcion|alternativa|letra|inciso|elección',
    plural: 'respuestas|opciones|alternativas',
    pick: 'elijo|selecciono|escojo|elegiría|seleccionamos|elegimos|marco',
    is: 'es|sería|ser|son|será',
    was: 'era|fue|puede|parece|está|queda',
    may: 'podría|podrían',
    so: 'por lo tanto|por tanto|entonces|así que|luego|en conclusión|por ende|por consiguiente|en resumen|finalmente',
    rest: 'queda|quedando',
    say: 'es la|diría que es|diría|se trata de|debe ser|sería la',
    correct: 'correcta|correcto|mejor|correctas|acertada|verdadera|adecuada',
    wrong: 'incorrecta|incorrecto|falsa|falso|errónea|descartada|incorrectas|equivocada|no|falsas|eliminada',
    no: 'no|ni|excepto|salvo|descarto|descartar|descartamos|elimino|eliminamos|nunca|excluye|en lugar de|en vez de|menos|tampoco',
    filler:
      'la|el|lo|los|las|claramente|probablemente|final|seguramente|debe|debería|correcta|mi|entonces|que|evidentemente|tanto|no solo|sin duda',
    a: 'un|una',
    join: 'o|y|u|e|así como|como',
    because: 'porque|ya que|pues|dado que|puesto que|debido a',
    but: 'pero|sino|mientras que|aunque|sino que',
    if: 'si|supongamos|suponiendo',
    that: 'que|cual',
    wait: 'espera|no|en realidad|corrección|perdón|espere|mejor dicho',
    maybe: 'quizás|quizá|tal vez|posiblemente|o tal vez|o quizás|o',
    other: 'otra|incorrecta|primera|cuál|otras|errónea|falsa',
    carrier: 'vitamina|grupo|clase|tipo|figura|parte|plan',
  },
  {
    code: 'it',
    isLatin: true,
    letters: 'a|e|i|o|è',
    answer: 'risposta|soluzione',
    option: 'opzione|scelta|lettera|alternativa',
    plural: 'risposte|opzioni|scelte',
    pick: 'scelgo|seleziono|sceglierei|scegliamo',
    is: 'è|sarebbe|essere|sarà|sono',
    was: 'era|può|sembra|viene|va',
    may: 'potrebbe|potrebbero',
    so: 'quindi|pertanto|dunque|perciò|in conclusione|di conseguenza',
    rest: 'resta|rimane',
    say: 'è la|direi|si tratta di|sarebbe la',
    correct: 'corretta|giusta|corretto|esatta|migliore|giusto|corrette',
    wrong: 'sbagliata|errata|falsa|sbagliato|scorretta|esclusa|non|errato|falso|scartata|sbagliate|errate',
    no: 'non|tranne|eccetto|né|escludo|elimino|escludere|invece di|scarto|mai',
    filler:
      "la|il|lo|l'|le|chiaramente|probabilmente|finale|deve|dovrebbe|corretta|mia|quindi|sicuramente|sia|certamente|non solo",
    a: 'un|una',
    join: 'o|e|oppure|ed|sia|che',
    because: 'perché|poiché|siccome|dato che|in quanto',
    but: 'ma|bensì|mentre|però|anche se',
    if: 'se|supponiamo',
    that: 'che',
    wait: 'aspetta|no|in realtà|correzione|anzi',
    maybe: 'forse|magari|o forse|oppure|o',
    other: 'altra|sbagliata|prima|quale|altre',
    carrier: 'vitamina|gruppo|classe|tipo|figura|parte',
  },
  {
    code: 'pt',
    isLatin: true,
    letters: 'a|e|o|é|à',
    answer: 'resposta|gabarito|solução',
    option: 'opção|alternativa|letra|escolha',
    plural: 'respostas|opções|alternativas',
    pick: 'escolho|seleciono|marco|escolheria|escolhemos',
    is: 'é|seria|ser|será|são',
    was: 'era|foi|pode|parece|está|fica',
    may: 'poderia|poderiam',
    so: 'portanto|logo|então|assim|em conclusão|por isso|dessa forma|desse modo|por conseguinte',
    rest: 'resta',
    say: 'é a|diria que é|diria|trata-se de|seria a',
    correct: 'correta|certa|correto|certo|melhor|corretas|verdadeira',
    wrong: 'incorreta|errada|falsa|incorreto|errado|falso|não|descartada|incorretas|erradas|eliminada',
    no: 'não|nem|exceto|salvo|descarto|elimino|descartamos|eliminamos|em vez de|nunca',
    filler:
      'a|o|as|os|claramente|provavelmente|final|deve|deveria|correta|minha|que|certamente|tanto|não só|sem dúvida',
    a: 'um|uma',
    join: 'ou|e|bem como|quanto',
    because: 'porque|pois|já que|visto que|uma vez que',
    but: 'mas|porém|enquanto|e sim|embora',
    if: 'se|suponha|supondo',
    that: 'que',
    wait: 'espera|não|na verdade|correção|espere|aliás',
    maybe: 'talvez|possivelmente|ou talvez|ou',
    other: 'outra|incorreta|primeira|qual|outras|errada|falsa',
    carrier: 'vitamina|grupo|classe|tipo|figura|parte',
  },
  {
    code: 'tr',
    isVerbless: true,
    isLatin: true,
    letters: 'o',
    suffixes: 'dır|dir|dur|dür|tır|tir|tur|tür|yi|yı|nin|nın|ya|ye|i|ı|e|a',
    answer: 'cevap|yanıt|cevabı|yanıtı|cevabım|yanıtım|cevabımız',
    option: 'seçenek|şık|şıkkı|seçeneği|seçeneğidir|şıkkıdır|seçim',
    plural: 'seçenekler|şıklar|cevaplar',
    pick: 'seçiyorum|seçerim|seçilmelidir',
    is: 'olmalı|olmalıdır|olacaktır|olur',
    was: 'idi',
    may: 'olabilir',
    so: 'bu nedenle|dolayısıyla|bu yüzden|sonuç olarak|öyleyse|o halde|bu durumda|yani',
    correct: 'doğru|doğrudur|doğrusu',
    wrong: 'yanlış|yanlıştır|değil|değildir|hatalı|hatalıdır|elenir',
    no: 'hariç|dışında',
    filler: 'doğru|olarak|kesinlikle|muhtemelen|açıkça|bu|sorunun',
    join: 'veya|ya da|ve|ile|yahut',
    because: 'çünkü|zira',
    but: 'ama|fakat|ancak',
    if: 'eğer',
    wait: 'hayır|bekle|düzeltme',
    maybe: 'belki',
    other: 'yanlış|diğer|hangi',
  },
  {
    code: 'pl',
    isLatin: true,
    letters: 'a|i|o|u|w|z',
    answer: 'odpowiedź|odpowiedzią|odpowiedz|odpowiedzi|rozwiązanie|rozwiązaniem',
    option: 'opcja|wariant|opcją|wybór|opcję',
    plural: 'opcje|warianty',
    pick: 'wybieram|wybieramy',
    is: 'to|jest|brzmi|będzie|byłaby|powinna być|musi być',
    was: 'była|może|został|została',
    may: 'mogłaby|może',
    so: 'zatem|więc|dlatego|stąd|podsumowując|a więc|w związku z tym',
    rest: 'zostaje',
    say: 'to jest|jest to',
    correct: 'poprawna|prawidłowa|właściwa|poprawny|poprawną|prawidłową|poprawne|najlepsza|słuszna',
    wrong: 'błędna|błędny|niepoprawna|nieprawidłowa|fałszywa|nie|odpada|błędne|wykluczona',
    no: 'nie|oprócz|poza|ani|wykluczam|zamiast|eliminuję',
    filler:
      'prawidłowa|poprawna|prawdopodobnie|na pewno|oczywiście|więc|zatem|litera|moja|ostateczna|zarówno',
    join: 'lub|albo|i|oraz|jak i',
    because: 'ponieważ|bo|gdyż|bowiem',
    but: 'ale|lecz|tylko|natomiast|a',
    if: 'jeśli|jeżeli|gdyby|czy',
    that: 'który|która|które',
    wait: 'nie|czekaj|poprawka',
    maybe: 'może|być może|albo',
    other: 'inna|błędna|która|pierwsza',
    carrier: 'witamina|grupa|klasa|typ',
  },
  {
    code: 'vi',
    isLatin: true,
    isVerbless: true,
    letters: 'ý|ở|à|y',
    answer: 'đáp án|câu trả lời|trả lời|đáp số|kết quả',
    option: 'phương án|lựa chọn',
    plural: 'các phương án|các lựa chọn|các đáp án',
    pick: 'chọn|ta chọn|tôi chọn',
    is: 'là|sẽ là|phải là',
    was: 'bị|có thể',
    may: 'có thể là',
    so: 'vậy|do đó|vì vậy|vì thế|nên|suy ra|như vậy|tóm lại|kết luận',
    say: 'đó là',
    correct: 'đúng|chính xác|đúng nhất|phù hợp nhất',
    wrong: 'sai|không đúng|không phải|bị loại|không chính xác',
    no: 'không phải|không|loại|loại bỏ|loại trừ|trừ|không chọn|chẳng phải',
    filler: 'đúng|chính xác|cuối cùng|câu|của|tôi|chắc chắn|đúng nhất|nhất|này',
    join: 'hoặc|và|hay',
    because: 'vì|bởi vì|do',
    but: 'nhưng|mà|mà là',
    if: 'nếu|giả sử',
    wait: 'không|khoan|sửa lại',
    maybe: 'có lẽ|hoặc',
    other: 'sai|khác|nào',
  },
  {
    code: 'ru',
    isVerbless: true,
    letters: 'а|в|и|к|о|с|у|я',
    answer: 'ответ|ответом|ответа|ответу|решение',
    option: 'вариант|вариантом|варианта|выбор|буква|пункт|утверждение',
    plural: 'варианты|ответы|варианты ответа|варианты ответов',
    pick: 'выбираю|выбираем|выберем|выбрать',
    is: 'это|является|будет|есть|являются|быть|явля́ется',
    was: 'был|была|может|кажется|можно',
    may: 'может быть|мог бы|может',
    so: 'следовательно|поэтому|значит|итак|таким образом|получаем|в итоге|вывод',
    rest: 'остаётся|остается',
    say: 'это вариант|я бы сказал',
    correct:
      'верный|правильный|верно|правильно|верен|верна|правильным|верным|правильна|верны|правильный ответ|верный ответ|правильного',
    wrong:
      'неверно|неверный|неверен|неверна|неправильно|неправильный|ошибочен|ошибочно|ложно|не является|не подходит|не верно|не верен|не|исключён|исключен|исключается|неверны|не подходят|ошибочный',
    no: 'не|кроме|исключаем|исключить|исключая|ни|вместо|нельзя|отбрасываем',
    filler:
      'правильный|верный|вероятно|очевидно|скорее всего|здесь|именно|под|буквой|номер|значит|мой|окончательный|только|как|не только',
    join: 'или|и|либо|а также|так и',
    because: 'потому|потому что|так как|поскольку|ведь',
    but: 'но|а|однако|хотя',
    if: 'если|предположим|допустим|ли',
    that: 'который|которая|которое|что',
    wait: 'нет|подождите|точнее|исправление|стоп|вернее',
    maybe: 'возможно|может быть|или|или возможно',
    other: 'неверный|неправильный|другой|первый|какой|неверным|неправильным',
    carrier: 'витамин|группа|группы|класс|тип|рисунок',
  },
  {
    code: 'zh',
    isVerbless: true,
    answer: '答案|正确答案|最终答案|正確答案|最終答案|参考答案|答案选项|结果',
    option: '选项|選項',
    plural: '各选项|选项如下|以下选项|选项分析|逐项分析',
    pick: '选|故选|应选|选择|本题选|选的是|應選|選擇|選|故選|我选|我選',
    is: '是|为|應為|应为|应该是|為|應該是|应是|就是|乃|等于|等於',
    may: '可能是|也许是',
    so: '因此|所以|故|综上|综上所述|总之|可知|于是|因而|從而|从而|由此可知|綜上所述|综上可知|得出|结论',
    say: '那就是',
    correct: '正确|对的|正确的|最佳|正確|正確的|符合题意|符合题意的|是对的|最合适|最符合',
    wrong:
      '错误|不正确|不对|错|不符合|不是|錯誤|不正確|不符合题意|错误的|是错的|有误|不成立|被排除|可以排除|应排除|排除|不合题意|不符|不能选|不选|而不是',
    no: '不选|不是|不|并非|排除|除了|非|不能选|不应选|除|不選|並非|不该选|而不是|不能',
    filler:
      '的|应该|应当|应|就|最终|正确|题|了|即|则|最|该|这道题|本题|最佳|毫无疑问|显然|很明显|一定|正確|應該|最終|不过|不同|不仅|不但|不等式|非常|除以|项|为什么|此|也|都',
    join: '和|或|与|及|或者|以及|還是|还是|並且|并且|與',
    because: '因为|由于|因為|由於|理由',
    but: '而是|但是|但|而|然而',
    if: '如果|假设|若|假如|假設|是否',
    wait: '等等|不对|更正|等一下|稍等',
    maybe: '也可能是|可能|或许|也许|或者是',
    other: '错误|不正确|其他|哪个|错误的|哪一个|其它|哪',
    carrier: '维生素|维他命|甲|点|班',
  },
  {
    code: 'ja',
    isVerbless: true,
    answer: '答え|正解|解答|回答|答|正答|最終的な答え|最終回答',
    option: '選択肢|選択',
    plural: '選択肢は以下',
    pick: 'を選びます|を選ぶ|を選択します|を選択|を選びました',
    is: 'は|です|である|が|だ|でしょう|となる|となります|になります',
    may: 'かもしれない|かもしれません',
    so: 'したがって|よって|ゆえに|だから|つまり|従って|以上より|結論|そのため|以上から|結論として',
    correct: '正しい|正解|正しいです|正答|適切|適切です|最も適切|正解です',
    wrong:
      '誤り|間違い|不正解|不適切|ではありません|ではない|ではなく|でない|じゃない|除外|違います|違う|誤っている|間違っている|正しくない|正しくありません|適切ではない|は誤り',
    filler: 'の|も|を|番|と|考えられます|最も|ここ|最終的な|正しい|おそらく|明らかに|この|問題',
    join: 'と|または|や|か|もしくは|あるいは|及び|および',
    because: 'なぜなら|から|ので|理由',
    but: 'しかし|むしろ|ではなく',
    if: 'もし|仮に',
    wait: 'いや|訂正|待って|間違えました',
    maybe: 'おそらくは|もしかすると|または',
    other: '誤った|間違った|他|不正解|どの',
    carrier: 'ビタミン|グループ',
  },
  {
    code: 'ko',
    isVerbless: true,
    answer: '정답|답|최종 답|답안|최종답|정답지',
    option: '선택지|보기|선지|선택',
    plural: '선택지들|보기들',
    pick: '선택합니다|선택한다|고르겠습니다|를 고른다|고릅니다|선택하겠습니다',
    is: '은|는|입니다|이다|이에요|예요|이며|가|이|임|됩니다|이고|일 것입니다',
    may: '일 수 있습니다|일 수도 있습니다',
    so: '따라서|그러므로|그래서|결론적으로|즉|결국|그렇다면|결론',
    correct:
      '맞습니다|맞다|정답|옳다|옳습니다|맞는|옳은|올바른|적절하다|적절합니다|정확합니다|정답입니다|정답이다',
    wrong:
      '아닙니다|아니다|아니라|아니고|틀렸|틀렸습니다|틀린|오답|오답입니다|잘못|제외|틀리다|틀립니다|적절하지 않다|적절하지 않습니다|옳지 않다|옳지 않습니다|맞지 않습니다|부적절',
    filler: '번|의|을|를|로|으로|가장|올바른|옳은|분명히|아마|최종|문제|도|이|가|항|택|것|적절한',
    join: '또는|와|과|및|혹은|그리고|나|이나',
    because: '왜냐하면|때문에|때문|이유',
    but: '하지만|그러나|반면',
    if: '만약|만일',
    wait: '아니|잠깐|정정|다시',
    maybe: '어쩌면|혹시',
    other: '틀린|다른|잘못된|오답',
    carrier: '비타민|그룹|집단',
  },
  {
    code: 'ar',
    isVerbless: true,
    answer: 'الإجابة|الاجابة|إجابة|الجواب|جواب|الحل|إجابتي',
    option: 'الخيار|خيار|الاختيار|البديل|الحرف',
    plural: 'الخيارات|الإجابات|الاختيارات',
    pick: 'أختار|اختار|نختار',
    is: 'هي|هو|تكون|يكون|ستكون',
    was: 'كان|كانت',
    may: 'قد تكون|قد يكون|ربما',
    so: 'لذلك|إذن|وبالتالي|لذا|إذا|بالتالي|ومن ثم|وعليه|في الختام',
    correct: 'صحيح|صحيحة|الصحيحة|الصحيح|الصواب|الأصح|الأفضل',
    wrong: 'خاطئ|خاطئة|خطأ|غير صحيح|غير صحيحة|ليس|ليست|مستبعد|ليس صحيحا',
    no: 'ليس|ليست|لا|غير|ما عدا|باستثناء|نستبعد|استبعد',
    filler: 'الصحيحة|الصحيح|النهائية|بالتأكيد|على الأرجح|رقم|حرف|هنا',
    join: 'أو|و|أم',
    because: 'لأن|لأنه|لأنها|بسبب|حيث',
    but: 'بل|لكن|ولكن|بينما',
    if: 'إذا كان|لو|إن',
    wait: 'انتظر|تصحيح',
    maybe: 'ربما|أو ربما',
    other: 'الخاطئة|الخاطئ|أخرى|أي',
    carrier: 'فيتامين|مجموعة',
  },
  {
    code: 'hi',
    isVerbless: true,
    answer: 'उत्तर|जवाब|हल',
    option: 'विकल्प|चुनाव',
    plural: 'विकल्पों|उत्तरों',
    pick: 'चुनता हूँ|चुनूंगा|चुनेंगे|चुनती हूँ',
    is: 'है|हैं|होगा|होगी|होना चाहिए',
    was: 'था|थी',
    may: 'हो सकता है|हो सकती है',
    so: 'इसलिए|अतः|अत|इस प्रकार|तो|अतएव|निष्कर्ष',
    correct: 'सही|सर्वोत्तम|उचित|ठीक',
    wrong: 'गलत|ग़लत|नहीं|सही नहीं|अनुचित',
    no: 'सिवाय|न',
    filler: 'सही|अंतिम|का|की|को|यह|निश्चित रूप से|मेरा|स्पष्ट रूप से|ही',
    join: 'या|और|तथा|अथवा|एवं',
    because: 'क्योंकि|चूंकि',
    but: 'लेकिन|बल्कि|परंतु',
    if: 'यदि|अगर',
    wait: 'रुको|सुधार|नहीं',
    maybe: 'शायद',
    other: 'गलत|अन्य|कौन',
    carrier: 'विटामिन|समूह',
  },
];

/** Letters of other scripts that look like Latin ones, as a model writes them for a label. */
export const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  [...'АВСЕНКМОРТХІЅ']
    .map((letter, index): [string, string] => [letter, 'ABCEHKMOPTXIS'[index] ?? ''])
    .concat([...'ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ'].map((letter, index) => [letter, 'ABEZHIKMNOPTYX'[index] ?? ''])),
);

/** Powers of ten by the words that multiply a number. */
export const MULTIPLIERS: ReadonlyMap<string, number> = new Map(
  (
    [
      [2, 'hundred|百|백'],
      [
        3,
        'thousand|тысяч|тысячи|тыс|tausend|mille|mil|mila|bin|tysiąc|tysiące|tysięcy|tys|nghìn|ngàn|千|천|ألف|हज़ार|हजार',
      ],
      [4, '万|萬|만'],
      [5, 'lakh|lakhs|लाख'],
      [
        6,
        'million|millions|mn|mio|millionen|millón|millones|milhão|milhões|milione|milioni|milyon|milion|miliony|milionów|mln|triệu|миллион|миллиона|миллионов|млн|مليون|मिलियन|百万',
      ],
      [7, 'crore|crores|करोड़'],
      [8, '亿|億|억'],
      [
        9,
        'billion|billions|bn|milliarde|milliarden|milliard|milliards|miliardo|miliardi|milyar|miliard|miliardy|miliardów|mld|tỷ|миллиард|миллиарда|миллиардов|млрд|مليار|bilhão|bilhões|अरब',
      ],
      [12, 'trillion|trillions|兆|조|триллион|триллиона|триллионов'],
    ] as const
  ).flatMap(([power, words]) => words.split('|').map((word): [string, number] => [word, power])),
);

/** Words in place of a minus sign. */
export const MINUS_WORDS: ReadonlySet<string> = new Set(
  'minus|negative|moins|menos|meno|минус|负|負|マイナス|마이너스|eksi|âm|سالب|ऋण'.split('|'),
);
