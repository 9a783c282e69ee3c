// License texts: the common licences by phrases that only they have. Not a legal opinion: a text that is changed in any
// of these places is not recognised, and a person is asked.

interface KnownText {
  readonly id: string;
  /** All of these, in lower case and with single spaces. */
  readonly has: readonly string[];
  /** None of these. */
  readonly lacks?: readonly string[];
}

const MIT_GRANT =
  "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files";
const ISC_GRANT = "distribute this software for any purpose with or without fee is hereby granted";
const ISC_CONDITION = "provided that the above copyright notice";
const BSD_GRANT =
  "redistribution and use in source and binary forms, with or without modification, are permitted provided that";
const BSD_ADVERTISING = "all advertising materials mentioning features";
const BSD_NO_ENDORSEMENT = "to endorse or promote products derived from this software without";

const KNOWN_TEXTS: readonly KnownText[] = [
  { id: "MIT", has: [MIT_GRANT, "the above copyright notice and this permission notice"] },
  { id: "MIT-0", has: [MIT_GRANT], lacks: ["the above copyright notice and this permission notice"] },
  { id: "ISC", has: [ISC_GRANT, ISC_CONDITION] },
  { id: "0BSD", has: [ISC_GRANT], lacks: [ISC_CONDITION] },
  { id: "BSD-4-Clause", has: [BSD_GRANT, BSD_ADVERTISING] },
  { id: "BSD-3-Clause", has: [BSD_GRANT, BSD_NO_ENDORSEMENT], lacks: [BSD_ADVERTISING] },
  { id: "BSD-2-Clause", has: [BSD_GRANT], lacks: [BSD_NO_ENDORSEMENT, BSD_ADVERTISING] },
  { id: "Apache-2.0", has: ["apache license version 2.0, january 2004"] },
  { id: "MPL-2.0", has: ["mozilla public license version 2.0", "covered software"] },
  { id: "AGPL-3.0", has: ["gnu affero general public license version 3, 19 november 2007"] },
  { id: "LGPL-3.0", has: ["gnu lesser general public license version 3, 29 june 2007"] },
  { id: "LGPL-2.1", has: ["gnu lesser general public license version 2.1, february 1999"] },
  { id: "GPL-3.0", has: ["gnu general public license version 3, 29 june 2007"] },
  { id: "GPL-2.0", has: ["gnu general public license version 2, june 1991"] },
  { id: "Unlicense", has: ["this is free and unencumbered software released into the public domain"] },
  { id: "CC0-1.0", has: ["cc0 1.0 universal"] },
  { id: "CC-BY-4.0", has: ["creative commons attribution 4.0 international public license"] },
  { id: "BlueOak-1.0.0", has: ["blue oak model license"] },
  {
    id: "Zlib",
    has: [
      "this software is provided 'as-is', without any express or implied warranty",
      "altered source versions must be plainly marked",
    ],
  },
  { id: "WTFPL", has: ["do what the fuck you want to public license"] },
];

/** The SPDX expression of a licence text. A file that holds several known licences asks for all of them. */
export function recogniseLicense(text: string): string | undefined {
  const plain = text.toLowerCase().replaceAll(/[\s*#>]+/g, " ");
  const ids = KNOWN_TEXTS.filter(
    ({ has, lacks = [] }) =>
      has.every((phrase) => plain.includes(phrase)) && !lacks.some((phrase) => plain.includes(phrase)),
  ).map(({ id }) => id);
  return ids.length > 0 ? ids.join(" AND ") : undefined;
}
