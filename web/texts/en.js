/** Every text of the page, in English. Another language is a file like this one. */

/** @param {number} count @param {string} one @param {string} more */
const plural = (count, one, more) => (count === 1 ? one : more);

/** What a server says that its page and its things are called, in the head of the page. */
const said = globalThis.document?.querySelector('meta[name="names"]')?.getAttribute('content');
/**
 * What this page and its things are called.
 * @type {Record<'title' | 'one' | 'many' | 'kind' | 'kinds', string>}
 */
const named = {
  ...{ title: 'Tacit', one: 'film', many: 'films', kind: 'genre', kinds: 'genres' },
  ...(said ? JSON.parse(said) : null),
};
const { one, many, kind, kinds } = named;
const a = `${/^[aeiou]/i.test(one) ? 'an' : 'a'} ${one}`;
const Many = many[0].toUpperCase() + many.slice(1);
const Kind = kind[0].toUpperCase() + kind.slice(1);

export const texts = {
  language: 'en',
  title: named.title,
  brand: named.title === 'Tacit' ? 'tacit' : named.title,
  bytes: (/** @type {string} */ shown, /** @type {number} */ count) =>
    `${shown} ${plural(count, 'byte', 'bytes')}`,

  nav: {
    label: 'Main',
    films: 'For you',
    yours: 'Yours',
    map: 'Map',
    promise: 'Promise',
    ledger: 'Ledger',
    skip: 'Skip to the content',
  },

  hero: {
    title: 'What you like stays here.',
    lead:
      `Rate ${many} you know. The model has come to you, so your list is computed in this browser ` +
      'and your ratings have no reason to leave it.',
    sent: (/** @type {string} */ amount, /** @type {boolean} */ cut) =>
      `${amount} of your ratings sent${cut ? ' · network cut' : ''}`,
  },

  search: {
    label: (/** @type {boolean} */ dated) =>
      dated ? `Find ${a} by title, year or ${kind}` : `Find ${a} by title or ${kind}`,
    placeholder: (/** @type {boolean} */ dated) =>
      dated ? `Find ${a}, a year, a ${kind}` : `Find ${a}, a ${kind}`,
    hint: '/',
    found: (/** @type {number} */ count, /** @type {boolean} */ more) =>
      count === 0
        ? `No ${one} found`
        : `${more ? 'More than ' : ''}${count} ${plural(count, one, many)} found`,
    nothing: (/** @type {boolean} */ dated) =>
      `No ${one} here has such a title${dated ? ', year' : ''} or ${kind}.`,
    results: `${Many} found`,
  },

  stars: {
    none: 'not rated',
    value: (/** @type {string} */ value, /** @type {string} */ most) => `${value} of ${most} stars`,
    liked: 'liked',
    label: (/** @type {string} */ title) => `Your rating of ${title}`,
    given: (/** @type {string} */ title, /** @type {string} */ value) => `${title}: ${value}`,
  },

  start: {
    title: 'Do you know these?',
    lead: 'Stars for a few are enough to begin.',
    others: 'Others',
  },

  list: {
    forYou: 'For you',
    forAnyone: 'For anyone',
    lead: (/** @type {number} */ count, /** @type {boolean} */ taste) =>
      count === 0
        ? `${taste ? 'Well-known ones first' : 'The same for everybody'}, until your first star.`
        : `From ${count} ${plural(count, 'rating', 'ratings')} of yours` +
          `${taste ? ': your own taste first' : ', computed here'}.`,
    safe: 'Safe',
    explore: 'Explore',
    slider: 'From safe to explore',
    safety: (/** @type {number} */ percent) =>
      percent < 34
        ? 'safe: sure to suit you'
        : percent < 67
          ? 'balanced'
          : 'explore: where the model knows you least',
    genre: Kind,
    anyGenre: `All ${kinds}`,
    more: 'Show more',
    empty: `Nothing is left to suggest. Another ${kind} has more.`,
    expected: (
      /** @type {string} */ rating,
      /** @type {string} */ low,
      /** @type {string} */ high,
    ) => `Expected ${rating}. In 4 of 5 cases between ${low} and ${high}.`,
  },

  reasons: {
    liked: (/** @type {string} */ title) => `you liked ${title}`,
    disliked: (/** @type {string} */ title) => `you did not like ${title}`,
    middling: (/** @type {string} */ title) => `${title} was so-so for you`,
    against: (/** @type {string} */ title) => `${title}, which you liked, speaks against it`,
    popular: 'liked by many',
    unpopular: 'rated low by many',
    above: (/** @type {string} */ name) => `you rate ${name} above others`,
    below: (/** @type {string} */ name) => `you rate ${name} below others`,
    year: 'the time it is from',
    baseline: `where an average ${one} starts`,
    rest: 'your other ratings together',
    small: 'smaller things together',
    total: 'expected for you',
    join: ' · ',
    also: ', ',
    everyone: 'What everyone would be told.',
  },

  yours: {
    title: 'Your ratings',
    none: 'Nothing yet. Every star that you give is kept here, in this browser, and nowhere else.',
    count: (/** @type {number} */ count) => `${count}`,
    all: (/** @type {number} */ count) => `Show all ${count}`,
    unknown: (/** @type {number} */ count) =>
      `${count} ${plural(count, `rating is of ${a}`, `ratings are of ${many}`)} that this model ` +
      `does not know. ${plural(count, 'It is', 'They are')} kept and exported, but not used.`,
    import: 'Import',
    export: 'Export',
    wipe: 'Wipe',
    forgetful:
      'This browser does not let the page keep anything: your ratings last until you close ' +
      'it. Export them to keep them.',
    hidden: (/** @type {number} */ count) => `${count} not suggested`,
    showHidden: 'Suggest them again',
  },

  film: {
    close: 'Close',
    yours: 'Your rating',
    expected: 'Expected for you',
    expectedAny: 'Expected for anyone',
    interval: (/** @type {string} */ low, /** @type {string} */ high) =>
      `${low} to ${high} in 4 of 5 cases`,
    why: 'Why',
    notThere: 'Not in your list',
    rank: (/** @type {number} */ rank) => `Number ${rank} in your list`,
    rated: 'You rated it. The list suggests what you have not.',
    isHidden: 'You asked not to be shown it.',
    filtered: (/** @type {string} */ genre) => `The list shows ${genre} only.`,
    below: (/** @type {string} */ gap, /** @type {string} */ title) =>
      `It is expected ${gap} stars below ${title}, the last one shown.`,
    place: (/** @type {string} */ place, /** @type {string} */ of) =>
      `it would be number ${place} of ${of}.`,
    equal:
      'it is expected to be as good as those shown, but the list also goes by what many know ' +
      'and by the slider; ',
    like: 'More like this',
    noLike: `This model does not compare ${many}.`,
    hide: 'Do not suggest it',
    unhide: 'Suggest it again',
  },

  map: {
    title: 'A map of tastes',
    lead:
      `Two directions in which the model tells people apart. ${Many} that lie together are liked ` +
      'by the same people. You are the point, and you move as you rate.',
    you: 'You',
    label: (/** @type {string} */ x, /** @type {string} */ y) =>
      `Map of ${many} along ${x} and ${y}. The ${many} closest to your taste are listed after it.`,
    near: 'Closest to your taste',
    nearUnrated: `${Many} around your point.`,
    none: 'This model has no directions of taste to draw: it tells everybody the same.',
    zoomIn: 'Closer',
    zoomOut: 'Farther',
    reset: 'Whole map',
    legendRated: 'you rated',
    legendList: 'in your list',
    legendOther: `other ${many}`,
    year: `newer ${many}`,
    unnamed: 'a taste without a name',
    known: `better known ${many}`,
    keys: 'Drag to move, scroll or + and − to zoom.',
  },

  promise: {
    title: 'The promise',
    lead:
      'This model was made from other people’s ratings. Here is what they were promised, in ' +
      'words that can be checked.',
    certified: 'Certified',
    claimed: 'Claimed, not certified',
    'not private': 'Not private',
    certifiedWords:
      'Every number that was released carries proven noise, and its cost stands in a book.',
    signedBy: (/** @type {string} */ key) =>
      `Signed, and the signature was checked by this browser. Key ${key}.`,
    unsigned: 'The statement is not signed. You have only the word of this server for it.',
    badSignature: 'The signature does not fit this statement. Do not rely on it.',
    uncheckable: 'This browser cannot check the signature.',
    checking: 'Checking the signature',
    odds: 'What that means in odds',
    oddsLead: (/** @type {string} */ epsilon, /** @type {string} */ fact) =>
      `Epsilon is ${epsilon}. Suppose somebody suspects that ${fact}, ` +
      'and then studies the model as long as they like.',
    suspected: {
      user: 'a certain person’s ratings are in the data',
      rating: 'one certain rating of a person is in the data',
      value: 'one certain rating has a certain value',
      records: 'a person’s ratings are certain ones and not others',
    },
    before: 'How sure they were before',
    after: (
      /** @type {string} */ before,
      /** @type {string} */ after,
      /** @type {string} */ least,
    ) =>
      `If they were ${before} sure before, then after seeing the model ` +
      `they can be at most ${after} sure, and at least ${least}.`,
    chart: (/** @type {string} */ before, /** @type {string} */ after) =>
      `Before ${before}, after at most ${after}`,
    axisBefore: 'sure before',
    axisAfter: 'sure after',
    delta: (/** @type {string} */ delta) =>
      `Each of these two holds but for a chance of ${delta}.`,
    oneIn: (/** @type {string} */ count) => `1 in ${count}`,
    noChance: 'none',
    noEpsilon:
      'There is no epsilon that holds, so no odds can be given. Whoever sees the model may ' +
      'learn about a person in it.',
    whom: 'Who is protected',
    unit: {
      user: 'A whole person, with all of that person’s ratings',
      rating: 'Each single rating of a person, and whether it was given. Not the person as a whole',
      value: `The value of each single rating. Which ${many} a person rated is taken as public`,
    },
    honest: 'Who must be honest',
    notProtected: 'What is not protected',
    assumed: 'What is taken as public',
    profile: 'All of these hold at once',
    profileEpsilon: 'Epsilon',
    profileDelta: 'Delta',
    you: 'And you?',
    youWords:
      'You are not in this model because of this page. Unless you choose to take part, it sends ' +
      'nothing that follows from your ratings, so it needs to promise you no epsilon.',
    whole: 'The whole statement, word for word',
    unavailable: 'The statement could not be fetched.',
    demonstration: `This one is a demonstration: its ${many} are real, its people are invented.`,
    book: (/** @type {string} */ population, /** @type {string} */ entry) =>
      `Charged to the population “${population}” as entry ${entry} of its book`,
    modelWords: (
      /** @type {string} */ name,
      /** @type {string} */ method,
      /** @type {string} */ count,
    ) => `${name} · method ${method} · ${count} ${many}`,
  },

  ledger: {
    title: 'What has left this device',
    lead:
      'Every request of this page, written down before it is made: by the page, its worker and ' +
      'its service worker alike.',
    ratings: 'from your ratings',
    sent: 'sent in all',
    received: 'received',
    requests: 'requests',
    refused: (/** @type {number} */ count) => `${count} refused while cut`,
    table: 'Every request, newest first',
    when: 'When',
    what: 'What',
    who: 'Asked by',
    left: 'Left',
    came: 'Came back',
    by: {
      page: 'page',
      worker: 'worker',
      service: 'service worker',
      browser: 'browser',
      device: 'device',
    },
    why: {
      page: 'a file of the page',
      data: 'published data',
      check: 'is there a newer model?',
      worker: 'is there a newer page?',
      other: 'other',
      task: 'terms of a training',
      enrol: 'the key of this device',
      join: 'is there a round?',
      answer: 'an answer, masked',
    },
    cutState: 'refused: cut',
    failed: 'no answer',
    underWay: 'under way',
    unknown: 'unknown',
    group: {
      page: (/** @type {number} */ count) => `${count} page files`,
      worker: (/** @type {number} */ count) => `is there a newer page? (${count} files)`,
    },
    note:
      '“Left” counts what the page itself wrote: method, address and body. Your browser adds ' +
      'headers of its own to every request (its name, the languages it reads), which no page ' +
      'can see or count. At each visit it also looks, by itself, whether the page’s service ' +
      'worker has changed; no page can see or cut that, so it is written down each time as if ' +
      'it had happened.',
    how: 'How to check it',
    howWords:
      `Open the network panel of your browser’s developer tools and rate ${a}. Or cut the ` +
      'network and see that nothing is missing.',
    older: 'Show older',
  },

  network: {
    on: 'Network on',
    cut: 'Network cut',
    cutWords: 'The page makes no request until you let it.',
    onWords: 'Cut this page from the network: it goes on working.',
    offline: 'No network',
  },

  data: {
    importTitle: 'Bring your ratings',
    importLead: 'The file is read in this browser. It is not uploaded.',
    choose: 'Choose a file',
    reading: 'Reading the file …',
    drop: 'or drop it here',
    kinds:
      'Our own csv (item, rating), Letterboxd (ratings.csv), IMDb (ratings.csv) and Netflix ' +
      '(viewing history).',
    kind: {
      tacit: 'Ratings',
      letterboxd: 'Letterboxd ratings',
      imdb: 'IMDb ratings',
      netflix: 'Netflix viewing history',
    },
    read: (/** @type {string} */ kind, /** @type {number} */ rows) =>
      `${kind}: ${rows} ${plural(rows, 'line', 'lines')}.`,
    found: (/** @type {number} */ count) =>
      `${count} ${plural(count, `${one} is`, `${many} are`)} in this catalogue.`,
    missing: (/** @type {number} */ count) =>
      `${count} ${plural(count, 'is', 'are')} not, and will be left out:`,
    skipped: (/** @type {number} */ count) =>
      `${count} ${plural(count, 'line has', 'lines have')} no rating and no ${one}, ` +
      'and will be left out.',
    netflix: 'Netflix tells what you watched, not whether you liked it. Count each as',
    add: (/** @type {number} */ count) => `Add ${count} ${plural(count, 'rating', 'ratings')}`,
    unknown:
      'This is no file of ratings that the page knows. It needs a first line with names of ' +
      'columns, such as “item,rating”.',
    tooLarge: 'The file is larger than 20 MB. A person’s ratings are smaller.',
    added: (/** @type {number} */ count) => `${count} ${plural(count, 'rating', 'ratings')} added`,
    exported: (/** @type {number} */ count) =>
      `${count} ${plural(count, 'rating', 'ratings')} saved to a file`,
    wipeTitle: 'Wipe everything?',
    wipeWords:
      `Your ratings, the ${many} that you hid, the ledger, your book and key of taking part and the ` +
      'stored copy of the page leave this browser. There is no other copy: nobody can bring them back.',
    wipe: 'Wipe everything',
    wiped: 'Everything is wiped',
    exportFirst: 'Export first',
  },

  device: {
    title: 'Taking part, by choice',
    none:
      'This page takes part in no training, and its server names none. It can only ask for ' +
      'published files; it has no way to send anything.',
    words:
      'A model can learn from people who choose to take part. Each sends numbers that hide among ' +
      'those of others, with noise, to two servers that must not work together. It is off ' +
      'unless you switch it on, and every cost is stated first.',
    look: 'What is asked of me?',
    looking: 'Asking',
    lookNote: (/** @type {string} */ hosts) =>
      `This asks ${hosts} for the terms. Nothing of yours goes with the question.`,
    noOffer: (/** @type {string} */ why) => `There is nothing to take part in: ${why}.`,
    left: 'You left, and the key of this device is deleted.',
    book: (/** @type {string} */ spent, /** @type {string} */ cap) =>
      `Your book: epsilon ${spent} of ${cap} was spent before. It stays spent.`,
    broken: 'The device could not be started.',
    offer: 'These are the terms. This browser has checked that the noise covers what it would add.',
    purpose: 'What for',
    noPurpose: 'Not said',
    method: 'Method',
    among: 'You hide among',
    amongWords: (/** @type {string} */ least, /** @type {string} */ people) =>
      `at least ${least} people in each round, of ${people}`,
    noise: 'Noise',
    noNoise: 'None at all: not private',
    noiseFrom: {
      servers: 'Each of both servers adds all of it. One of them must be honest',
      devices: 'Every device adds a share. Most of the others must be honest',
      both: 'Each server adds all of it, and every device a share',
      own: 'This device adds all of it. Nobody else must be honest',
    },
    costs: 'All of it costs you epsilon',
    nothing: 'There is no epsilon that holds',
    rounds: 'What each round sends and costs',
    round: 'Round',
    sends: 'You send',
    price: 'Epsilon by itself',
    cap: 'For you as a whole person, never spend more than epsilon',
    overCap: 'All of it would cost more than your cap.',
    ticket: ['Ticket of the recommender', 'Ticket of the aggregator'],
    accept: {
      none: 'I know that nothing is promised: what I send can tell on me.',
      strangers: 'I know that the promise rests on strangers alone.',
    },
    join: 'Take part',
    notNow: 'Not now',
    offerNote:
      'What is sent in a round has the same length whatever you rated. You can switch it off at ' +
      'any time; what was sent stays sent.',
    switch: 'Taking part',
    doing: {
      waiting: 'Waiting for a round.',
      answering: 'Computing an answer, here.',
      answered: (/** @type {any} */ { bytes: count, counted }) =>
        counted ? `Answered with ${count} bytes.` : 'The answer came too late and did not count.',
      away: 'A server does not answer. Trying again.',
      cut: 'The network is cut.',
      off: 'Switched off. Nothing is sent.',
      over: 'The training is over. Nothing more is sent.',
      cap: 'Your cap is reached. Nothing more is sent.',
      elsewhere: 'Another tab takes part for you.',
    },
    failed: (/** @type {string} */ why) => `It stopped: ${why}.`,
    of: (/** @type {string} */ spent, /** @type {string} */ cap) => `${spent} of ${cap}`,
    spent: 'epsilon in your book',
    realised: 'your own loss',
    next: 'one more round',
    nextWords: (/** @type {string} */ more, /** @type {string} */ size) => `+${more} · ${size}`,
    answers: 'answers',
    memberNote:
      'The book counts the most that anybody could have told. Your own loss is what your numbers ' +
      'really told: it follows from your ratings, so it stays in this browser.',
    leave: 'Leave, and delete the key',
    leaveSure: 'Leave? The key of this device is deleted. What you spent stays in your book.',
  },

  state: {
    loading: 'Fetching the model',
    failed: 'The model could not be fetched',
    failedOffline: 'There is no network, and the model has not been stored on this device yet.',
    failedCut: 'The network is cut, and the model has not been stored on this device yet.',
    failedServer: 'The server does not answer as it should. Your ratings are safe in this browser.',
    broken: 'The model cannot be used',
    brokenWords:
      'The file is damaged or not of this version. Your ratings are safe in this browser.',
    tooLong: 'The model was stopped',
    tooLongWords: 'It did not answer in time, so the page ended its work.',
    again: 'Try again',
    newer: 'A newer model was published.',
    useIt: 'Use it',
  },

  footer: {
    words: 'Tacit: models that tell very little about any one person, as much as their owner sets.',
    model: 'Model',
  },
};
