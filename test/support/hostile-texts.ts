/** What strangers may write where a page shows it. */

/** What would show that a text was run: it sets `globalThis.ran`, and opens a dialog. */
export const RUN = 'globalThis.ran=1,alert(1)'

/** Ways out of text, of quoted attributes, of scripts and styles, of addresses (OWASP's filter evasion cheat sheet). */
export const CORPUS = {
  tags: `</title></style></script></textarea></template><script>${RUN}</script><img src=x onerror=${RUN}><svg/onload=${RUN}><iframe srcdoc="<script>parent.${RUN}</script>"></iframe><details open ontoggle=${RUN}>`,
  attributes: `"><b onmouseover=${RUN} autofocus onfocus=${RUN} tabindex=1>' onclick='${RUN}' x='" style="animation-name:x" onanimationstart="${RUN}" \` onload=${RUN}`,
  addresses: `javascript:${RUN}//https://t.me/"onclick="${RUN}`,
  others: `{{constructor.constructor('${RUN}')()}} \${${RUN}} \u2028\u202e&lt;script&gt;${RUN}&lt;/script&gt; <!-- <script> --> ]]> \\u003cscript\\u003e`,
}
